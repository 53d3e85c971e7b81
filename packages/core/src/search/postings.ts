import { ByteReader, ByteWriter } from './bytes.js'
import { type Measure, packMeasure, unpackOldMeasure } from './measure.js'

/**
 * The occurrences of one term: for each thread, by number, the passages that contain it, in order. A passage takes two
 * or three bytes, and the message of a single passage no more than that:
 *
 *     threads:  { distance from the thread before, count of passages, passages }
 *     passages: { place, one byte: see `Measure` }
 *     place:    distance x 2      the first passage of the message at this distance from the one before, by `seq`
 *               distance x 2 + 1  the same, but another passage, whose number follows
 *               1                 a further passage of the same message, whose distance from the one before follows
 *
 * Numbers are written in groups of 7 bits. Lengths and frequencies are stored as classes, which is precise enough for
 * BM25.
 */

/** One passage that contains a term. */
export interface Posting {
  readonly thread: number
  readonly seq: number
  /** Passages of a message are counted from 0. */
  readonly passage: number
  /** One byte: see {@link packMeasure}. */
  readonly measure: number
}

/** Distances between messages are at least 1. */
export const FURTHER_PASSAGE = 1

/**
 * @param postings in the order of threads, of `seq` within each, and of passages; no passage twice
 * @param writer of other lists, which is reused
 */
export function writePostings(postings: readonly Posting[], writer = new ByteWriter()): Uint8Array {
  let threadBefore = 0
  for (let from = 0; from < postings.length; ) {
    const thread = postings[from]?.thread ?? 0
    let to = from
    while (postings[to]?.thread === thread) to++
    writer.number(thread - threadBefore)
    writer.number(to - from)
    const places = new PlaceWriter(writer)
    for (; from < to; from++) {
      const { seq = 0, passage = 0, measure = 0 } = postings[from] ?? {}
      places.write(seq, passage, measure)
    }
    threadBefore = thread
  }
  return writer.take()
}

/** Writes the passages of one thread in order. */
export class PlaceWriter {
  #seqBefore = 0
  #passageBefore = 0

  constructor(readonly writer: ByteWriter) {}

  write(seq: number, passage: number, measure: number): void {
    const { writer } = this
    if (seq === this.#seqBefore) {
      writer.number(FURTHER_PASSAGE)
      writer.number(passage - this.#passageBefore)
    } else {
      writer.number(2 * (seq - this.#seqBefore) + (passage === 0 ? 0 : 1))
      if (passage > 0) writer.number(passage)
    }
    writer.byte(measure)
    this.#seqBefore = seq
    this.#passageBefore = passage
  }
}

/** Calls `visit` for each message of a list, in order, with the measure of its first passage in the list. */
export function readPostings(list: Uint8Array, visit: (thread: number, seq: number, measure: number) => void): void {
  const reader = new ByteReader(list)
  let thread = 0
  while (!reader.isAtEnd) {
    thread += reader.number()
    let seq = 0
    for (let left = reader.number(); left > 0; left--) {
      const place = reader.number()
      if (place % 2 === 1) reader.number()
      if (place === FURTHER_PASSAGE) {
        reader.byte()
        continue
      }
      seq += Math.floor(place / 2)
      visit(thread, seq, reader.byte())
    }
  }
}

/** A list as it was written before messages had passages: `{ distance from the seq before, one byte }` for each message. */
export function fromMessageList(list: Uint8Array): Uint8Array {
  const reader = new ByteReader(list)
  const postings: Posting[] = []
  let thread = 0
  while (!reader.isAtEnd) {
    thread += reader.number()
    let seq = 0
    for (let left = reader.number(); left > 0; left--) {
      seq += reader.number()
      const measure: Measure = unpackOldMeasure(reader.byte())
      postings.push({ thread, seq, passage: 0, measure: packMeasure(measure) })
    }
  }
  return writePostings(postings)
}
