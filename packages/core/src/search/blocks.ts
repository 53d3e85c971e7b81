import type { Pausable } from '../recall/steps.js'
import { BlockEntries, type ByteRange, WITH_PASSAGES } from './block-entries.js'
import { ByteWriter } from './bytes.js'

/** Consecutive terms with their postings. */
export interface Block {
  /** The first of its terms. A term can only be in the last block whose first term is not after it. */
  readonly firstTerm: string
  readonly bytes: Uint8Array
}

/** Bytes at which a block ends: compressed and with its row overhead, several fill a page of Postgres. */
const BLOCK_BYTES = 2_400

/** Terms that are written between two yields: a millisecond or two. */
const TERMS_PER_STEP = 512

/** A term is written as the length of the prefix shared with the previous one, and the rest. */
export function* writeBlocks(entries: [key: string, list: Uint8Array][]): Pausable<Block[]> {
  const blocks: Block[] = []
  const writer = new ByteWriter()
  let first: string | null = null
  let before = ''
  const close = () => {
    if (first !== null) blocks.push({ firstTerm: Buffer.from(first, 'latin1').toString('utf8'), bytes: writer.take() })
    first = null
    before = ''
  }
  entries.sort(([left], [right]) => (left < right ? -1 : 1))
  for (const [at, [key, list]] of entries.entries()) {
    if (at % TERMS_PER_STEP === 0) yield
    if (writer.length > 0 && writer.length + key.length + list.length > BLOCK_BYTES) close()
    if (first === null) writer.byte(WITH_PASSAGES)
    first ??= key
    let shared = 0
    while (shared < before.length && before[shared] === key[shared]) shared++
    writer.number(shared)
    writer.number(key.length - shared)
    writer.characters(key, shared)
    writer.number(list.length)
    writer.bytes(list)
    before = key
  }
  close()
  return blocks
}

export function* entriesOf(block: Uint8Array): Generator<[key: string, list: Uint8Array]> {
  let key = ''
  const entries = new BlockEntries(block)
  while (entries.next()) {
    const { from, to } = entries.rest
    key =
      key.slice(0, entries.shared) + Buffer.from(block.buffer, block.byteOffset + from, to - from).toString('latin1')
    yield [key, entries.list()]
  }
}

/** The bytes of a term's UTF-8 as characters, which sort as the database sorts the term. */
export function keyOf(term: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with them.
  if (/^[\x00-\x7f]*$/.test(term)) return term
  return Buffer.from(term, 'utf8').toString('latin1')
}

export function findPostings(block: Uint8Array, terms: readonly string[]): Map<string, Uint8Array> {
  return postingFinder(terms)(block)
}

/**
 * Finds the postings of some terms in blocks. Keys are compared as bytes, in place: a block has many, of which few are
 * sought.
 */
export function postingFinder(terms: readonly string[]): (block: Uint8Array) => Map<string, Uint8Array> {
  const wanted = terms.map((term) => ({ term, key: Buffer.from(term, 'utf8') }))
  wanted.sort((left, right) => Buffer.compare(left.key, right.key))
  const key = new KeyBytes()
  return (block) => {
    const found = new Map<string, Uint8Array>()
    const entries = new BlockEntries(block)
    let next = 0
    while (entries.next()) {
      key.replaceFrom(entries.shared, block, entries.rest)
      let sought = wanted[next]
      while (sought !== undefined && key.compare(sought.key) > 0) sought = wanted[++next]
      if (sought === undefined) break
      if (key.compare(sought.key) === 0) found.set(sought.term, entries.list())
    }
    return found
  }
}

/** The bytes of one key after another, each of which shares its beginning with the one before. */
class KeyBytes {
  #bytes = new Uint8Array(256)
  #length = 0

  replaceFrom(shared: number, source: Uint8Array, { from, to }: ByteRange): void {
    this.#length = shared + to - from
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#length)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    for (let at = from, into = shared; at < to; at++) this.#bytes[into++] = source[at] as number
  }

  /** Less than 0 if the key is before another one, 0 if they are equal. */
  compare(other: Uint8Array): number {
    const length = Math.min(this.#length, other.length)
    for (let at = 0; at < length; at++) {
      const difference = (this.#bytes[at] as number) - (other[at] as number)
      if (difference !== 0) return difference
    }
    return this.#length - other.length
  }
}
