/**
 * Vectors of one thread in memory, one signed byte per dimension, row by row, with the message of each row. Rows are
 * only appended, in the order of storing; a message of several chunks has several consecutive rows.
 */
export class VectorBlock {
  /** Number of rows; the capacity may be larger. */
  count = 0
  /** Rows packed into words of four bytes, zero-padded to whole words. */
  words = new Int32Array()
  /** The reciprocal of each row's length: 0 for a zero row, which is similar to nothing. */
  scales = new Float32Array()
  /** The message of each row, by its `seq`. */
  seqs = new Float64Array()
  readonly wordsPerRow: number

  /** @param rows expected number of rows, as far as known: memory is allocated at once */
  constructor(
    readonly dimensions: number,
    rows = 0,
  ) {
    this.wordsPerRow = Math.ceil(dimensions / BYTES_PER_WORD)
    this.#reserve(rows)
  }

  get bytes(): number {
    return this.words.byteLength + this.scales.byteLength + this.seqs.byteLength
  }

  /** @param vectors as many rows of `dimensions` bytes as there are `seqs` */
  append(seqs: readonly number[], vectors: Int8Array): void {
    if (vectors.length !== seqs.length * this.dimensions) {
      throw new Error(
        `${seqs.length} vectors of ${this.dimensions} bytes were announced, ${vectors.length} bytes received`,
      )
    }
    this.#reserve(this.count + seqs.length)
    const bytes = new Int8Array(this.words.buffer)
    for (const [index, seq] of seqs.entries()) {
      const row = vectors.subarray(index * this.dimensions, (index + 1) * this.dimensions)
      bytes.set(row, this.count * this.wordsPerRow * BYTES_PER_WORD)
      this.scales[this.count] = scaleOf(row)
      this.seqs[this.count] = seq
      this.count++
    }
  }

  /** A new block takes what it needs; a growing one is over-allocated, so that it is seldom copied. */
  #reserve(rows: number): void {
    if (rows <= this.seqs.length) return
    const room = this.seqs.length === 0 ? rows : Math.max(rows, Math.ceil(this.count * GROWTH))
    this.words = copied(new Int32Array(room * this.wordsPerRow), this.words)
    this.scales = copied(new Float32Array(room), this.scales)
    this.seqs = copied(new Float64Array(room), this.seqs)
  }
}

const BYTES_PER_WORD = 4
const GROWTH = 1.25

function copied<Values extends Int32Array | Float32Array | Float64Array>(to: Values, from: Values): Values {
  to.set(from)
  return to
}

function scaleOf(vector: Int8Array): number {
  let square = 0
  for (const element of vector) square += element * element
  return square === 0 ? 0 : 1 / Math.sqrt(square)
}

/** A query vector in the form that {@link cosines} needs. */
export interface VectorQuery {
  readonly scale: number
  /** Indices of its non-zero words: few for the hashing embedder. */
  readonly places: Int32Array
  /** Four elements per index. */
  readonly elements: Int32Array
}

export function vectorQuery(vector: Int8Array): VectorQuery {
  const words = Array.from({ length: Math.ceil(vector.length / BYTES_PER_WORD) }, (_, word) =>
    Array.from({ length: BYTES_PER_WORD }, (_, byte) => vector[word * BYTES_PER_WORD + byte] ?? 0),
  )
  const places = words.flatMap((elements, place) => (elements.some((element) => element !== 0) ? [place] : []))
  return {
    scale: scaleOf(vector),
    places: Int32Array.from(places),
    elements: Int32Array.from(places.flatMap((place) => words[place] ?? [])),
  }
}

/**
 * Writes the cosines of some rows of a block with a query to `out`, from -1 to 1, in order. Integer arithmetic until
 * the end: four elements are loaded as one word and unpacked by shifts, for four rows at once, which is more than twice
 * as fast as element by element.
 *
 * @param from a row; `to` the row after the last
 */
export function cosines(
  { scale, places, elements }: VectorQuery,
  { words, wordsPerRow, scales }: VectorBlock,
  { from, to, out }: { from: number; to: number; out: Float32Array },
): void {
  const count = places.length
  let row = from
  for (; row + 3 < to; row += 4) {
    const row0 = row * wordsPerRow
    const row1 = row0 + wordsPerRow
    const row2 = row1 + wordsPerRow
    const row3 = row2 + wordsPerRow
    let sum0 = 0
    let sum1 = 0
    let sum2 = 0
    let sum3 = 0
    for (let index = 0, element = 0; index < count; index++, element += 4) {
      const place = places[index] as number
      const a = elements[element] as number
      const b = elements[element + 1] as number
      const c = elements[element + 2] as number
      const d = elements[element + 3] as number
      sum0 = (sum0 + wordDot(words[row0 + place] as number, a, b, c, d)) | 0
      sum1 = (sum1 + wordDot(words[row1 + place] as number, a, b, c, d)) | 0
      sum2 = (sum2 + wordDot(words[row2 + place] as number, a, b, c, d)) | 0
      sum3 = (sum3 + wordDot(words[row3 + place] as number, a, b, c, d)) | 0
    }
    const at = row - from
    out[at] = sum0 * scale * (scales[row] as number)
    out[at + 1] = sum1 * scale * (scales[row + 1] as number)
    out[at + 2] = sum2 * scale * (scales[row + 2] as number)
    out[at + 3] = sum3 * scale * (scales[row + 3] as number)
  }
  for (; row < to; row++) {
    let sum = 0
    for (let index = 0, element = 0; index < count; index++, element += 4) {
      const word = words[row * wordsPerRow + (places[index] as number)] as number
      const [a, b] = [elements[element] as number, elements[element + 1] as number]
      sum += wordDot(word, a, b, elements[element + 2] as number, elements[element + 3] as number)
    }
    out[row - from] = sum * scale * (scales[row] as number)
  }
}

/** The lowest byte of a word is the first element, because all platforms of Node are little-endian. */
function wordDot(word: number, a: number, b: number, c: number, d: number): number {
  return (
    (Math.imul(a, (word << 24) >> 24) +
      Math.imul(b, (word << 16) >> 24) +
      Math.imul(c, (word << 8) >> 24) +
      Math.imul(d, word >> 24)) |
    0
  )
}
