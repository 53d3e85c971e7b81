/**
 * Byte-pair encoding, limited to counting. The library's own takes quadratic time in the length of a piece, and makes a
 * string for each pair of bytes that it looks up, which takes nearly all of the time for names and hashes. The counts
 * are the same.
 *
 * A piece is a string with one character per byte.
 */
export class BytePairs {
  private readonly ranks = new Map<string, number>()
  /** The rank of each two-byte token, indexed by its bytes: half of all lookups, without making a string. */
  private readonly twoBytes = new Int32Array(BYTE_VALUES * BYTE_VALUES).fill(NO_TOKEN)
  /** For each byte of a piece: the start of the next part, and of the previous one. */
  private next = new Int32Array(0)
  private previous = new Int32Array(0)
  /** For each part: the rank of the token that it forms with the next part. */
  private pairs = new Int32Array(0)

  /** @param tokens by rank: each a text, or its bytes if they are not valid text */
  constructor(tokens: readonly (string | readonly number[] | undefined)[]) {
    for (const [rank, token] of tokens.entries()) {
      if (token === undefined) continue
      const bytes = typeof token === 'string' ? bytesOf(token) : bytesIn(token)
      this.ranks.set(bytes, rank)
      if (bytes.length === 2) this.twoBytes[pairOf(bytes, 0)] = rank
    }
  }

  /** Whether the bytes are a token. */
  has(bytes: string): boolean {
    return this.ranks.has(bytes)
  }

  /** Counts the tokens of a piece: the adjacent pair of the lowest rank is merged, the first of equal ones first. */
  count(bytes: string): number {
    const { length } = bytes
    if (length < 2) return length
    this.reserve(length)
    const { next, previous, pairs } = this
    const heap: number[] = []
    for (let at = 0; at < length; at++) {
      next[at] = at + 1
      previous[at] = at - 1
      this.offer(heap, bytes, at, at + 1, at + 2)
    }
    let parts = length
    for (let lowest = takeLowest(heap); lowest !== undefined; lowest = takeLowest(heap)) {
      const at = lowest % POSITIONS
      // The part was merged since, into the previous or with the next.
      if (pairs[at] !== Math.floor(lowest / POSITIONS)) continue
      const merged = next[at] ?? length
      const after = next[merged] ?? length
      const before = previous[at] ?? -1
      parts--
      pairs[merged] = NO_TOKEN
      next[at] = after
      if (after < length) previous[after] = at
      this.offer(heap, bytes, at, after, after < length ? (next[after] ?? length) : length + 1)
      if (before >= 0) this.offer(heap, bytes, before, at, after)
    }
    return parts
  }

  /** Records the rank of two adjacent parts, the first from `at` to `middle`, the second from there to `to`. */
  private offer(heap: number[], bytes: string, at: number, middle: number, to: number): void {
    const isPair = middle < bytes.length && to <= bytes.length && to - at <= TOKEN_BYTES_MAX
    const rank = isPair ? this.rankOf(bytes, at, to) : NO_TOKEN
    this.pairs[at] = rank
    if (rank !== NO_TOKEN) put(heap, rank * POSITIONS + at)
  }

  private rankOf(bytes: string, at: number, to: number): number {
    if (to - at === 2) return this.twoBytes[pairOf(bytes, at)] ?? NO_TOKEN
    return this.ranks.get(bytes.slice(at, to)) ?? NO_TOKEN
  }

  private reserve(length: number): void {
    if (this.next.length >= length) return
    this.next = new Int32Array(length)
    this.previous = new Int32Array(length)
    this.pairs = new Int32Array(length)
  }
}

/** The longest token of o200k has 128 bytes; longer ones need no lookup. */
const TOKEN_BYTES_MAX = 128
const NO_TOKEN = -1
const BYTE_VALUES = 256
/** Rank and position are combined in one number for comparison: positions are below this. */
const POSITIONS = 2 ** 24

function pairOf(bytes: string, at: number): number {
  return bytes.charCodeAt(at) * BYTE_VALUES + bytes.charCodeAt(at + 1)
}

/** The bytes of a text in UTF-8, each as a character. */
export function bytesOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with them.
  return /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

function bytesIn(token: readonly number[]): string {
  return String.fromCharCode(...token)
}

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
