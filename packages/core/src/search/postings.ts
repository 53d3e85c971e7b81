/**
 * The occurrences of one term: for each thread, by number, the documents that contain it, by `seq`, each with its term
 * frequency and its length. A document takes two or three bytes:
 *
 *     threads:   { distance from the thread before, count of documents, documents }
 *     documents: { distance from the seq before, one byte: 5 bits of length, 3 bits of frequency }
 *
 * Distances and counts are written in groups of 7 bits. Lengths and frequencies are stored as classes, which is precise
 * enough for BM25.
 */

/** One document that contains a term. */
export interface Posting {
  readonly thread: number
  readonly seq: number
  /** One byte: see {@link packMeasure}. */
  readonly measure: number
}

const LENGTH_STEP = Math.log(1.4)
const LENGTH_CLASS_MAX = 31
/** The lowest frequency of each class; the last class includes all higher ones, which score almost the same. */
const TIMES = [1, 2, 3, 4, 6, 9, 14, 20] as const

/** A document's length and term frequency, as one byte. */
export function packMeasure(length: number, times: number): number {
  const lengthClass = Math.min(LENGTH_CLASS_MAX, Math.round(Math.log(Math.max(1, length)) / LENGTH_STEP))
  let timesClass = 0
  while (timesClass + 1 < TIMES.length && (TIMES[timesClass + 1] ?? 0) <= times) timesClass++
  return (lengthClass << 3) | timesClass
}

const lengths = Array.from({ length: LENGTH_CLASS_MAX + 1 }, (_, index) => Math.exp(index * LENGTH_STEP))

export function lengthOf(measure: number): number {
  return lengths[measure >> 3] ?? 1
}

export function timesOf(measure: number): number {
  return TIMES[measure & 7] ?? 1
}

/** Writes bytes in sequence. */
export class ByteWriter {
  #bytes = new Uint8Array(256)
  length = 0

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.length++] = value
  }

  /** A whole number from 0 to 2^53, in groups of 7 bits, the lowest first. */
  number(value: number): void {
    let rest = value
    while (rest >= 128) {
      this.byte((rest % 128) | 128)
      rest = Math.floor(rest / 128)
    }
    this.byte(rest)
  }

  bytes(values: Uint8Array): void {
    this.#reserve(values.length)
    this.#bytes.set(values, this.length)
    this.length += values.length
  }

  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.length)
    this.length = 0
    return taken
  }

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + count))
    grown.set(this.#bytes.subarray(0, this.length))
    this.#bytes = grown
  }
}

/** Reads what {@link ByteWriter} wrote. */
export class ByteReader {
  at = 0
  constructor(readonly source: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.at >= this.source.length
  }

  byte(): number {
    const value = this.source[this.at++]
    if (value === undefined) throw new Error('postings end in the middle of a number')
    return value
  }

  number(): number {
    let value = 0
    let factor = 1
    for (;;) {
      const next = this.byte()
      if (next < 128) return value + next * factor
      value += (next - 128) * factor
      factor *= 128
    }
  }

  bytes(count: number): Uint8Array {
    if (this.at + count > this.source.length) throw new Error('postings end in the middle of a list')
    this.at += count
    return this.source.subarray(this.at - count, this.at)
  }
}

/** @param postings in the order of threads, and of `seq` within each; no document twice */
export function writePostings(postings: readonly Posting[]): Uint8Array {
  const writer = new ByteWriter()
  let threadBefore = 0
  for (let from = 0; from < postings.length; ) {
    const thread = postings[from]?.thread ?? 0
    let to = from
    while (postings[to]?.thread === thread) to++
    writer.number(thread - threadBefore)
    writer.number(to - from)
    let seqBefore = 0
    for (; from < to; from++) {
      const { seq = 0, measure = 0 } = postings[from] ?? {}
      writer.number(seq - seqBefore)
      writer.byte(measure)
      seqBefore = seq
    }
    threadBefore = thread
  }
  return writer.take()
}

/** Calls `visit` for each document of a list, in order. */
export function readPostings(list: Uint8Array, visit: (thread: number, seq: number, measure: number) => void): void {
  const reader = new ByteReader(list)
  let thread = 0
  while (!reader.isAtEnd) {
    thread += reader.number()
    let seq = 0
    for (let left = reader.number(); left > 0; left--) {
      seq += reader.number()
      visit(thread, seq, reader.byte())
    }
  }
}

/** The concatenated documents of some lists. */
export interface PostingRuns {
  readonly count: number
  readonly seqs: Float64Array
  readonly measures: Uint8Array
  /** The ranges of each thread. */
  readonly runs: readonly { readonly thread: number; readonly from: number; readonly to: number }[]
}

/**
 * Like {@link readPostings} for all lists at once: a frequent term has many thousands of postings, which are read in
 * one tight loop.
 */
export function decodePostings(lists: readonly Uint8Array[]): PostingRuns {
  // A document takes at least two bytes.
  const most = lists.reduce((sum, { length }) => sum + (length >> 1), 0)
  const seqs = new Float64Array(most)
  const measures = new Uint8Array(most)
  const runs: { thread: number; from: number; to: number }[] = []
  let count = 0
  for (const list of lists) {
    const reader = new ByteReader(list)
    let thread = 0
    while (!reader.isAtEnd) {
      thread += reader.number()
      const from = count
      let seq = 0
      for (let left = reader.number(); left > 0; left--) {
        seq += reader.number()
        seqs[count] = seq
        measures[count++] = reader.byte()
      }
      runs.push({ thread, from, to: count })
    }
  }
  return { count, seqs, measures, runs }
}

/** Merges lists of one term, without documents that `keep` rejects. */
export function mergePostings(lists: readonly Uint8Array[], keep: (thread: number) => boolean = () => true): Posting[] {
  const merged: Posting[] = []
  for (const list of lists) {
    readPostings(list, (thread, seq, measure) => {
      if (keep(thread)) merged.push({ thread, seq, measure })
    })
  }
  return merged.sort((left, right) => left.thread - right.thread || left.seq - right.seq)
}
