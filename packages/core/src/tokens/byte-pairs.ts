import { KnownPieces } from './known-pieces.js'
import { NO_TOKEN, type TokenTable } from './token-table.js'
import { UNIT_BYTES_MAX, writeUtf8 } from './utf8.js'

/**
 * Byte-pair encoding, limited to counting. The library's own takes quadratic time in the length of a piece, and makes a
 * string for each pair of bytes that it looks up, which takes nearly all of the time for names and hashes. The counts
 * are the same.
 */
export class BytePairs {
  private readonly known = new KnownPieces()
  private bytes = new Uint8Array(PIECE_BYTES)
  /** For each part of a piece: the token that it forms with the next part. */
  private merged = new Int32Array(PIECE_BYTES)
  /** The start of the next part, and of the previous one. */
  private next = new Int32Array(PIECE_BYTES)
  private previous = new Int32Array(PIECE_BYTES)

  constructor(readonly table: TokenTable) {}

  /**
   * Counts the tokens of a piece of a text: the adjacent pair of the lowest rank is merged, the first of equal ones
   * first.
   */
  count(piece: string): number {
    this.reserve(piece.length * UNIT_BYTES_MAX)
    const length = writeUtf8(piece, this.bytes)
    if (length < 2) return length
    if (this.table.find(this.bytes, 0, length) !== NO_TOKEN) return 1
    const known = this.known.find(this.bytes, length)
    if (known > 0) return known
    const count = length > SCANNED_BYTES_MAX ? this.countByHeap(length) : this.countByScan(length)
    this.known.keep(this.bytes, length, count)
    return count
  }

  /** For short pieces: a search of all pairs for each merge costs less than a heap. The parts move together. */
  private countByScan(length: number): number {
    const { merged, next: ends } = this
    let parts = length
    for (let part = 0; part < parts; part++) ends[part] = part + 1
    for (let part = 0; part < parts - 1; part++) merged[part] = this.table.find(this.bytes, part, part + 2)
    for (;;) {
      let at = -1
      let lowest = NO_TOKEN
      for (let part = 0; part < parts - 1; part++) {
        const token = merged[part] as number
        if (token >= lowest) continue
        lowest = token
        at = part
      }
      if (at < 0) return parts
      parts--
      for (let part = at; part < parts; part++) {
        ends[part] = ends[part + 1] as number
        merged[part] = merged[part + 1] as number
      }
      if (at + 1 < parts) merged[at] = this.table.find(this.bytes, this.startOf(at), ends[at + 1] as number)
      if (at > 0) merged[at - 1] = this.table.find(this.bytes, this.startOf(at - 1), ends[at] as number)
    }
  }

  private startOf(part: number): number {
    return part === 0 ? 0 : (this.next[part - 1] as number)
  }

  private countByHeap(length: number): number {
    const { next, previous, merged } = this
    const heap: number[] = []
    for (let at = 0; at < length; at++) {
      next[at] = at + 1
      previous[at] = at - 1
    }
    for (let at = 0; at < length; at++) this.offer(heap, at, length)
    let parts = length
    for (let lowest = takeLowest(heap); lowest !== undefined; lowest = takeLowest(heap)) {
      const at = lowest % POSITIONS
      // The part was merged since, into the previous or with the next.
      if (merged[at] !== Math.floor(lowest / POSITIONS)) continue
      const second = next[at] as number
      const after = next[second] as number
      const before = previous[at] as number
      parts--
      merged[second] = NO_TOKEN
      next[at] = after
      if (after < length) previous[after] = at
      this.offer(heap, at, length)
      if (before >= 0) this.offer(heap, before, length)
    }
    return parts
  }

  /** Records the token that the part at a position forms with the next one. */
  private offer(heap: number[], at: number, length: number): void {
    const second = this.next[at] as number
    const token = second < length ? this.table.find(this.bytes, at, this.next[second] as number) : NO_TOKEN
    this.merged[at] = token
    if (token !== NO_TOKEN) put(heap, token * POSITIONS + at)
  }

  private reserve(bytes: number): void {
    if (this.bytes.length >= bytes) return
    this.bytes = new Uint8Array(bytes)
    this.merged = new Int32Array(bytes)
    this.next = new Int32Array(bytes)
    this.previous = new Int32Array(bytes)
  }
}

/** Space for most pieces; it grows with a longer one. */
const PIECE_BYTES = 256
/** Longer pieces take fewer steps with a heap. */
const SCANNED_BYTES_MAX = 48
/** Rank and position are combined in one number for comparison: positions are below this. */
const POSITIONS = 2 ** 24

function put(heap: number[], entry: number): void {
  let at = heap.push(entry) - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    const other = heap[above] as number
    if (other <= entry) break
    heap[at] = other
    at = above
  }
  heap[at] = entry
}

function takeLowest(heap: number[]): number | undefined {
  const lowest = heap[0]
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return lowest
  let at = 0
  for (let below = 1; below < heap.length; below = 2 * at + 1) {
    if (below + 1 < heap.length && (heap[below + 1] as number) < (heap[below] as number)) below++
    if ((heap[below] as number) >= last) break
    heap[at] = heap[below] as number
    at = below
  }
  heap[at] = last
  return lowest
}
