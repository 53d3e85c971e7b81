import { UNIT_BYTES_MAX, writeUtf8 } from './utf8.js'

/** Above all ranks. */
export const NO_TOKEN = 2 ** 31 - 1

/** A table of tokens as arrays, in memory that threads share. */
export interface TokenArrays {
  /** The bytes of all tokens, one after another by rank, and where those of each rank end. */
  readonly bytes: Uint8Array
  readonly ends: Int32Array
  /** Pairs of a hash and a rank: from the place of its hash on, a token is in the first free slot. */
  readonly slots: Int32Array
  /** The rank of each token of two bytes, by its bytes: half of all lookups. */
  readonly twoBytes: Int32Array
}

/**
 * The tokens of an encoding with their ranks, found by their bytes. A table of strings would take three times the memory, and
 * each lookup would make a string.
 */
export class TokenTable {
  readonly arrays: TokenArrays
  private readonly bytes: Uint8Array
  private readonly ends: Int32Array
  private readonly slots: Int32Array
  private readonly twoBytes: Int32Array
  private readonly slotMask: number

  constructor(arrays: TokenArrays) {
    this.arrays = arrays
    this.bytes = arrays.bytes
    this.ends = arrays.ends
    this.slots = arrays.slots
    this.twoBytes = arrays.twoBytes
    this.slotMask = arrays.slots.length / 2 - 1
  }

  /** @param tokens by rank: each a text, or its bytes if they are not valid text */
  static of(tokens: readonly (string | readonly number[] | undefined)[]): TokenTable {
    const slots = 2 ** Math.ceil(Math.log2(2 * tokens.length + 1))
    const written = new Uint8Array(tokens.reduce((sum: number, token = []) => sum + bytesMax(token), 0))
    const ends = sharedNumbers(tokens.length)
    let end = 0
    for (const [rank, token = []] of tokens.entries()) {
      if (typeof token === 'string') end = writeUtf8(token, written, end)
      else for (const byte of token) written[end++] = byte
      ends[rank] = end
    }
    const bytes = new Uint8Array(new SharedArrayBuffer(end))
    bytes.set(written.subarray(0, end))
    const twoBytes = sharedNumbers(BYTE_VALUES * BYTE_VALUES).fill(NO_TOKEN)
    const table = new TokenTable({ bytes, ends, slots: sharedNumbers(2 * slots).fill(NO_TOKEN), twoBytes })
    for (const rank of ends.keys()) table.add(rank)
    return table
  }

  /** The rank of the token that a range of bytes forms; {@link NO_TOKEN} if it forms no token. */
  find(bytes: Uint8Array, from: number, to: number): number {
    const length = to - from
    if (length === 2) return this.twoBytes[pairOf(bytes, from)] as number
    if (length > TOKEN_BYTES_MAX) return NO_TOKEN
    const hash = hashOf(bytes, from, to)
    for (let slot = hash & this.slotMask; ; slot = (slot + 1) & this.slotMask) {
      const rank = this.slots[2 * slot + 1] as number
      if (rank === NO_TOKEN) return rank
      if (this.slots[2 * slot] === hash && this.isToken(rank, bytes, from, length)) return rank
    }
  }

  private isToken(rank: number, bytes: Uint8Array, from: number, length: number): boolean {
    const start = this.startOf(rank)
    if ((this.ends[rank] as number) - start !== length) return false
    for (let at = 0; at < length; at++) if (bytes[from + at] !== this.bytes[start + at]) return false
    return true
  }

  private startOf(rank: number): number {
    return rank === 0 ? 0 : (this.ends[rank - 1] as number)
  }

  private add(rank: number): void {
    const [from, to] = [this.startOf(rank), this.ends[rank] as number]
    if (from === to) return
    if (to - from === 2) this.twoBytes[pairOf(this.bytes, from)] = rank
    const hash = hashOf(this.bytes, from, to)
    let slot = hash & this.slotMask
    while (this.slots[2 * slot + 1] !== NO_TOKEN) slot = (slot + 1) & this.slotMask
    this.slots[2 * slot] = hash
    this.slots[2 * slot + 1] = rank
  }
}

/** The longest token of o200k has 128 bytes. */
const TOKEN_BYTES_MAX = 128
const BYTE_VALUES = 256

function sharedNumbers(length: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT))
}

function bytesMax(token: string | readonly number[]): number {
  return typeof token === 'string' ? token.length * UNIT_BYTES_MAX : token.length
}

function pairOf(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) * BYTE_VALUES + (bytes[at + 1] as number)
}

/** FNV-1a, with its high bits mixed into the low ones. */
export function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return hash ^ (hash >>> 15)
}
