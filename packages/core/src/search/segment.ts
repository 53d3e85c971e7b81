import { searchKinds } from '@heddle/contracts'
import { ByteReader, ByteWriter } from './bytes.js'
import { kindTerm, type SearchDocument } from './document.js'
import { lengthOf, packMeasure } from './measure.js'
import { fromMessageList, mergePostings, type Posting, readPostings, writePostings } from './postings.js'

/**
 * An immutable part of a scope's postings: all terms of some documents in order, divided into blocks. New documents
 * make a small segment; eight of similar size are merged, so that a scope has few segments and each document is
 * rewritten only a handful of times, however large the scope grows.
 */
export interface Segment {
  readonly documents: number
  /** Number of terms in all documents. */
  readonly length: number
  /** The numbers of the documents' threads, ascending. */
  readonly threads: readonly number[]
  readonly blocks: readonly Block[]
}

/** Consecutive terms with their postings. */
export interface Block {
  /** The first of its terms. A term can only be in the last block whose first term is not after it. */
  readonly firstTerm: string
  readonly bytes: Uint8Array
}

/** Bytes at which a block ends: compressed and with its row overhead, several fill a page of Postgres. */
const BLOCK_BYTES = 2_400

/** A document to be written into a segment. */
export interface PlacedDocument extends SearchDocument {
  readonly thread: number
  readonly seq: number
}

export function buildSegment(documents: readonly PlacedDocument[]): Segment {
  const inOrder = [...documents].sort((left, right) => left.thread - right.thread || left.seq - right.seq)
  const postings = new Map<string, Posting[]>()
  for (const { thread, seq, terms, length, isReply, dated } of inOrder) {
    for (const [term, places] of terms) {
      let list = postings.get(term)
      if (list === undefined) {
        list = []
        postings.set(term, list)
      }
      for (let index = 0; index < places.length; index += 2) {
        const [passage = 0, times = 0] = [places[index], places[index + 1]]
        list.push({
          thread,
          seq,
          passage,
          measure: packMeasure({ length, times, isReply, isDated: dated.has(passage) }),
        })
      }
    }
  }
  return {
    documents: documents.length,
    length: documents.reduce((sum, { length }) => sum + length, 0),
    threads: [...new Set(inOrder.map(({ thread }) => thread))],
    blocks: writeBlocks([...postings].map(([term, list]) => [keyOf(term), writePostings(list)])),
  }
}

export function mergeSegments(segments: readonly Segment[]): Segment {
  const lists = new Map<string, Uint8Array[]>()
  for (const [key, list] of segments.flatMap(({ blocks }) => blocks.flatMap((block) => [...entriesOf(block.bytes)]))) {
    const known = lists.get(key)
    if (known) known.push(list)
    else lists.set(key, [list])
  }
  const threads = new Set(segments.flatMap((segment) => segment.threads))
  return {
    documents: segments.reduce((sum, { documents }) => sum + documents, 0),
    length: segments.reduce((sum, { length }) => sum + length, 0),
    threads: [...threads].sort((left, right) => left - right),
    blocks: writeBlocks([...lists].map(([key, [only, ...more]]) => [key, merged(only, more)])),
  }
}

function merged(only: Uint8Array | undefined, more: readonly Uint8Array[]): Uint8Array {
  if (only === undefined) return new Uint8Array()
  return more.length === 0 ? only : writePostings(mergePostings([only, ...more]))
}

/** The segment without the documents of a thread, and without terms that only those had. */
export function dropThread(segment: Segment, thread: number): Segment {
  return dropDocuments(segment, (of) => of === thread)
}

/** The segment without some documents, and without terms that only those had. */
export function dropDocuments(segment: Segment, isDropped: (thread: number, seq: number) => boolean): Segment {
  const threads = new Set<number>()
  const kinds = new Set(searchKinds.map((kind) => keyOf(kindTerm(kind))))
  let documents = 0
  let [lengthBefore, lengthAfter] = [0, 0]
  const entries: [string, Uint8Array][] = []
  for (const [key, list] of segment.blocks.flatMap(({ bytes }) => [...entriesOf(bytes)])) {
    const kept = mergePostings([list], (thread, seq) => !isDropped(thread, seq))
    // Each document has one kind, in one place.
    if (kinds.has(key)) {
      documents += kept.length
      readPostings(list, (thread, seq, measure) => {
        lengthBefore += lengthOf(measure)
        if (!isDropped(thread, seq)) lengthAfter += lengthOf(measure)
      })
      for (const { thread } of kept) threads.add(thread)
    }
    if (kept.length > 0) entries.push([key, writePostings(kept)])
  }
  return {
    documents,
    // Lengths of single documents are stored as classes.
    length: Math.round((segment.length * lengthAfter) / Math.max(1, lengthBefore)),
    threads: segment.threads.filter((thread) => threads.has(thread)),
    blocks: writeBlocks(entries),
  }
}

export function findPostings(block: Uint8Array, terms: readonly string[]): Map<string, Uint8Array> {
  return postingFinder(terms)(block)
}

/** Finds the postings of some terms in blocks. Keys are compared as bytes: a block has many, of which few are sought. */
export function postingFinder(terms: readonly string[]): (block: Uint8Array) => Map<string, Uint8Array> {
  const wanted = terms.map((term) => ({ term, key: Buffer.from(term, 'utf8') }))
  wanted.sort((left, right) => Buffer.compare(left.key, right.key))
  const key = new KeyBytes()
  return (block) => {
    const found = new Map<string, Uint8Array>()
    let next = 0
    for (const { shared, rest, list } of rawEntriesOf(block)) {
      key.replaceFrom(shared, rest)
      let sought = wanted[next]
      while (sought !== undefined && key.compare(sought.key) > 0) sought = wanted[++next]
      if (sought === undefined) break
      if (key.compare(sought.key) === 0) found.set(sought.term, listOf(block, list))
    }
    return found
  }
}

/** The bytes of one key after another, each of which shares its beginning with the one before. */
class KeyBytes {
  #bytes = new Uint8Array(256)
  #length = 0

  replaceFrom(shared: number, rest: Uint8Array): void {
    this.#length = shared + rest.length
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#length)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes.set(rest, shared)
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

/** Bytes of all blocks; measures the size of a segment. */
export function segmentBytes({ blocks }: Segment): number {
  return blocks.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

/** The bytes of a term's UTF-8 as characters, which sort as the database sorts the term. */
function keyOf(term: string): string {
  return Buffer.from(term, 'utf8').toString('latin1')
}

/**
 * The first byte of a block whose lists have passages. A block of lists without them begins with the 0 of its first term,
 * which shares nothing with a previous one.
 */
const WITH_PASSAGES = 1

/** A term is written as the length of the prefix shared with the previous one, and the rest. */
function writeBlocks(entries: [key: string, list: Uint8Array][]): Block[] {
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
  for (const [key, list] of entries) {
    if (writer.length > 0 && writer.length + key.length + list.length > BLOCK_BYTES) close()
    if (first === null) writer.byte(WITH_PASSAGES)
    first ??= key
    let shared = 0
    while (shared < before.length && before[shared] === key[shared]) shared++
    const rest = Buffer.from(key.slice(shared), 'latin1')
    writer.number(shared)
    writer.number(rest.length)
    writer.bytes(rest)
    writer.number(list.length)
    writer.bytes(list)
    before = key
  }
  close()
  return blocks
}

function* entriesOf(block: Uint8Array): Generator<[key: string, list: Uint8Array]> {
  let key = ''
  for (const { shared, rest, list } of rawEntriesOf(block)) {
    key = key.slice(0, shared) + Buffer.from(rest.buffer, rest.byteOffset, rest.byteLength).toString('latin1')
    yield [key, listOf(block, list)]
  }
}

/** The entries of a block as they are written: see {@link writeBlocks}. */
function* rawEntriesOf(block: Uint8Array): Generator<{ shared: number; rest: Uint8Array; list: Uint8Array }> {
  const reader = new ByteReader(block)
  if (block[0] === WITH_PASSAGES) reader.byte()
  // A block has at least one term.
  do {
    const shared = reader.number()
    const rest = reader.bytes(reader.number())
    yield { shared, rest, list: reader.bytes(reader.number()) }
  } while (!reader.isAtEnd)
}

function listOf(block: Uint8Array, list: Uint8Array): Uint8Array {
  return block[0] === WITH_PASSAGES ? list : fromMessageList(list)
}
