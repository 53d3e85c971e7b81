import { ByteReader, ByteWriter } from './bytes.js'
import { FURTHER_PASSAGE, PlaceWriter, type Posting } from './postings.js'

/** The concatenated passages of some lists. */
export interface PostingRuns {
  readonly count: number
  /** Number of messages. */
  readonly messages: number
  readonly seqs: Float64Array
  readonly passages: Uint16Array
  readonly measures: Uint8Array
  /** The ranges of each thread, by thread and then by passage: what one of them has is before all of the next. */
  readonly runs: readonly PostingRun[]
}

/** Passages of one thread in one list: `to` exclusive. */
export interface PostingRun {
  readonly thread: number
  readonly from: number
  readonly to: number
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
  const runs: PostingRun[] = []
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
  return {
    count,
    messages,
    seqs,
    passages,
    measures,
    runs: lists.length === 1 ? runs : inOrder(runs, { seqs, passages, measures }),
  }
}

type Places = Pick<PostingRuns, 'seqs' | 'passages' | 'measures'>

/** Runs of several lists in order. Those of one thread seldom overlap: a list has what was added to it at one time. */
function inOrder(runs: PostingRun[], places: Places): PostingRun[] {
  const { seqs } = places
  runs.sort((left, right) => left.thread - right.thread || (seqs[left.from] as number) - (seqs[right.from] as number))
  for (let at = 0; at < runs.length; ) {
    const first = at
    const { thread } = runs[at] as PostingRun
    let overlaps = false
    let last = 0
    for (let run = runs[at]; run?.thread === thread; run = runs[++at]) {
      if ((seqs[run.from] as number) <= last) overlaps = true
      last = Math.max(last, seqs[run.to - 1] as number)
    }
    if (overlaps) sortPlaces(runs.slice(first, at), places)
  }
  return runs
}

/** Distributes the passages of some runs over the same runs in order. No object is made for a passage. */
function sortPlaces(runs: readonly PostingRun[], { seqs, passages, measures }: Places): void {
  const indices: number[] = []
  for (const { from, to } of runs) for (let index = from; index < to; index++) indices.push(index)
  // Each run is in order already, so this only merges them.
  const sorted = indices.toSorted(
    (left, right) =>
      (seqs[left] as number) - (seqs[right] as number) || (passages[left] as number) - (passages[right] as number),
  )
  const ofSorted = {
    seqs: sorted.map((index) => seqs[index] as number),
    passages: sorted.map((index) => passages[index] as number),
    measures: sorted.map((index) => measures[index] as number),
  }
  for (const [at, index] of indices.entries()) {
    seqs[index] = ofSorted.seqs[at] as number
    passages[index] = ofSorted.passages[at] as number
    measures[index] = ofSorted.measures[at] as number
  }
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

/**
 * Merges lists of one term, without messages that `keep` rejects. No object is made for a passage: a large segment has
 * millions.
 *
 * @param writer of other lists, which is reused
 */
export function mergePostings(
  lists: readonly Uint8Array[],
  { keep, writer = new ByteWriter() }: { keep?: (thread: number, seq: number) => boolean; writer?: ByteWriter } = {},
): Uint8Array {
  const { runs, seqs, passages, measures } = decodePostings(lists)
  let threadBefore = 0
  for (let at = 0; at < runs.length; ) {
    const { thread } = runs[at] as PostingRun
    const kept: number[] = []
    for (let run = runs[at]; run?.thread === thread; run = runs[++at]) {
      for (let index = run.from; index < run.to; index++) {
        if (keep === undefined || keep(thread, seqs[index] as number)) kept.push(index)
      }
    }
    if (kept.length === 0) continue
    writer.number(thread - threadBefore)
    writer.number(kept.length)
    const places = new PlaceWriter(writer)
    for (const index of kept) {
      places.write(seqs[index] as number, passages[index] as number, measures[index] as number)
    }
    threadBefore = thread
  }
  return writer.take()
}
