import { hashOf } from './token-table.js'

/** Longer pieces are hashes and encoded files, which hardly repeat. */
const BYTES_MAX = 40
/** A power of two. */
const PIECES = 2 ** 14

/**
 * Token counts of recent short pieces, for texts that repeat a few names. Of the pieces with the same place, the last one is kept,
 * so that it takes 700 KB whatever the texts are.
 */
export class KnownPieces {
  private readonly bytes = new Uint8Array(PIECES * BYTES_MAX)
  private readonly lengths = new Uint8Array(PIECES)
  private readonly counts = new Uint8Array(PIECES)

  /** @returns 0 for an unknown piece */
  find(piece: Uint8Array, length: number): number {
    if (length > BYTES_MAX) return 0
    const place = placeOf(piece, length)
    if (this.lengths[place] !== length) return 0
    const from = place * BYTES_MAX
    for (let at = 0; at < length; at++) if (this.bytes[from + at] !== piece[at]) return 0
    return this.counts[place] as number
  }

  keep(piece: Uint8Array, length: number, count: number): void {
    if (length > BYTES_MAX) return
    const place = placeOf(piece, length)
    const from = place * BYTES_MAX
    for (let at = 0; at < length; at++) this.bytes[from + at] = piece[at] as number
    this.lengths[place] = length
    this.counts[place] = count
  }
}

function placeOf(piece: Uint8Array, length: number): number {
  return hashOf(piece, 0, length) & (PIECES - 1)
}
