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
const FURTHER_PASSAGE = 1

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
    let seqBefore = 0
    let passageBefore = 0
    for (; from < to; from++) {
      const { seq = 0, passage = 0, measure = 0 } = postings[from] ?? {}
      if (seq === seqBefore) {
        writer.number(FURTHER_PASSAGE)
        writer.number(passage - passageBefore)
      } else {
        writer.number(2 * (seq - seqBefore) + (passage === 0 ? 0 : 1))
        if (passage > 0) writer.number(passage)
      }
      writer.byte(measure)
      seqBefore = seq
      passageBefore = passage
    }
    threadBefore = thread
  }
  return writer.take()
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

/** The concatenated passages of some lists. */
export interface PostingRuns {
  readonly count: number
  /** Number of messages. */
  readonly messages: number
  readonly seqs: Float64Array
  readonly passages: Uint16Array
  readonly measures: Uint8Array
  /** The ranges of each thread. */
  readonly runs: readonly { readonly thread: number; readonly from: number; readonly to: number }[]
}

/**
 * All passages of all lists: a frequent term has many thousands of postings, which are read in one tight loop.
 */
export function decodePostings(lists: readonly Uint8Array[]): PostingRuns {
  // A passage takes at least two bytes.
  const most = lists.reduce((sum, { length }) => sum + (length >> 1), 0)
  const seqs = new Float64Array(most)
  const passages = new Uint16Array(most)
  const measures = new Uint8Array(most)
  const runs: { thread: number; from: number; to: number }[] = []
  let count = 0
  let messages = 0
  for (const list of lists) {
    const reader = new ByteReader(list)
    let thread = 0
    while (!reader.isAtEnd) {
      thread += reader.number()
      const from = count
      let seq = 0
      let passage = 0
      for (let left = reader.number(); left > 0; left--) {
        const place = reader.number()
        if (place === FURTHER_PASSAGE) passage += reader.number()
        else {
          seq += Math.floor(place / 2)
          passage = place % 2 === 1 ? reader.number() : 0
          messages++
        }
        seqs[count] = seq
        passages[count] = passage
        measures[count++] = reader.byte()
      }
      runs.push({ thread, from, to: count })
    }
  }
  return { count, messages, seqs, passages, measures, runs }
}

/** Calls `visit` for each passage of some lists. */
export function eachPosting(lists: readonly Uint8Array[], visit: (posting: Posting) => void): void {
  const { runs, seqs, passages, measures } = decodePostings(lists)
  for (const { thread, from, to } of runs) {
    for (let index = from; index < to; index++) {
      const [seq = 0, passage = 0, measure = 0] = [seqs[index], passages[index], measures[index]]
      visit({ thread, seq, passage, measure })
    }
  }
}

/** Merges lists of one term, without messages that `keep` rejects. */
export function mergePostings(
  lists: readonly Uint8Array[],
  keep: (thread: number, seq: number) => boolean = () => true,
): Posting[] {
  const merged: Posting[] = []
  eachPosting(lists, (posting) => {
    if (keep(posting.thread, posting.seq)) merged.push(posting)
  })
  return merged.sort(
    (left, right) => left.thread - right.thread || left.seq - right.seq || left.passage - right.passage,
  )
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
