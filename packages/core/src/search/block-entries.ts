import { ByteReader } from './bytes.js'
import { fromMessageList } from './postings.js'

/**
 * The first byte of a block whose lists have passages. A block of lists without them begins with the 0 of its first term,
 * which shares nothing with a previous one.
 */
export const WITH_PASSAGES = 1

/** Bytes of a block, `to` exclusive. */
export interface ByteRange {
  from: number
  to: number
}

/**
 * The entries of a block as `writeBlocks` writes them, one after another. No object is made for an entry,
 * since a search passes over thousands to find a few.
 */
export class BlockEntries {
  readonly #reader: ByteReader
  readonly #hasPassages: boolean
  #isFirst = true
  readonly #list: ByteRange = { from: 0, to: 0 }
  /** Bytes of the key that are those of the previous one. */
  shared = 0
  /** The other bytes of the key. */
  readonly rest: ByteRange = { from: 0, to: 0 }

  constructor(readonly block: Uint8Array) {
    this.#reader = new ByteReader(block)
    this.#hasPassages = block[0] === WITH_PASSAGES
    if (this.#hasPassages) this.#reader.byte()
  }

  /** Goes to the next entry; false after the last one. */
  next(): boolean {
    // A block has at least one entry: an empty one is an error of the reader.
    if (this.#reader.isAtEnd && !this.#isFirst) return false
    this.#isFirst = false
    this.shared = this.#reader.number()
    this.#pass(this.rest)
    this.#pass(this.#list)
    return true
  }

  list(): Uint8Array {
    const { from, to } = this.#list
    // Not `subarray`, which takes several times as long on the Buffer that a decompressor returns.
    const list = new Uint8Array(this.block.buffer, this.block.byteOffset + from, to - from)
    return this.#hasPassages ? list : fromMessageList(list)
  }

  #pass(range: ByteRange): void {
    const count = this.#reader.number()
    range.from = this.#reader.skip(count)
    range.to = range.from + count
  }
}
