import type { Steps } from '../recall/steps.js'
import { memberships } from './memberships.js'
import { nthLargest } from './nth-largest.js'
import { lengthOf, readPostings, timesOf } from './postings.js'
import { Scores, ThreadScores } from './scores.js'
import type { RankedDocument, Ranking, ScopeStatistics, WordQuery } from './word-query.js'

/** BM25's constants: how soon a word's repetitions stop to count, and how much a long text is held against it. */
const DOCUMENT_CONSTANTS = { saturation: 0.9, lengthWeight: 0.4 }
const THREAD_CONSTANTS = { saturation: 1.2, lengthWeight: 0.75 }

/**
 * Ranks the documents of a scope by the words of a query: by BM25, and by the parts of {@link WordQuery.weights} beside it. In a
 * conversation an answer seldom repeats the words of its question, so what stands around a document tells what it is about.
 * The same postings give the same order, however they are spread over lists.
 */
export function* rankWords(query: WordQuery): Steps<Ranking> {
  const own = new Scores()
  const ofThreads = new Map<number, number>()
  const threadLengthAverage = average(query.threadLengths.values())
  for (const { lists } of query.terms) {
    const holders = countDocuments(lists)
    if (holders === 0) continue
    yield
    const rarity = Math.log(1 + (Math.max(0, query.scope.documents - holders) + 0.5) / (holders + 0.5))
    const timesByThread = scoreTerm(lists, { rarity, own, scope: query.scope })
    for (const [thread, times] of timesByThread) {
      const relativeLength = (query.threadLengths.get(thread) ?? 0) / threadLengthAverage
      const score = rarity * saturated(times, relativeLength, THREAD_CONSTANTS)
      ofThreads.set(thread, (ofThreads.get(thread) ?? 0) + score)
    }
    yield
  }
  const scores = yield* withSurroundings(own, ofThreads, query)
  addSpeakers(scores, query)
  yield
  return best(scores, query)
}

function average(values: Iterable<number>): number {
  let sum = 0
  let count = 0
  for (const value of values) {
    sum += value
    count++
  }
  return Math.max(1, sum / Math.max(1, count))
}

function countDocuments(lists: readonly Uint8Array[]): number {
  let count = 0
  for (const list of lists) readPostings(list, () => count++)
  return count
}

function saturated(
  times: number,
  relativeLength: number,
  { saturation, lengthWeight }: typeof DOCUMENT_CONSTANTS,
): number {
  return (times * (saturation + 1)) / (times + saturation * (1 - lengthWeight + lengthWeight * relativeLength))
}

/** Adds one term's scores to those of the documents, and gives how often each thread has it. */
function scoreTerm(
  lists: readonly Uint8Array[],
  { rarity, own, scope }: { rarity: number; own: Scores; scope: ScopeStatistics },
): Map<number, number> {
  const lengthAverage = Math.max(1, scope.length / Math.max(1, scope.documents))
  const timesByThread = new Map<number, number>()
  for (const list of lists) {
    readPostings(list, (thread, seq, measure) => {
      const times = timesOf(measure)
      const score = rarity * saturated(times, lengthOf(measure) / lengthAverage, DOCUMENT_CONSTANTS)
      own.of(thread).add(seq, score)
      timesByThread.set(thread, (timesByThread.get(thread) ?? 0) + times)
    })
  }
  return timesByThread
}

/** The scores with those of their neighbours and threads, for the documents that may be given back. */
function* withSurroundings(own: Scores, ofThreads: ReadonlyMap<number, number>, query: WordQuery): Steps<Scores> {
  const { neighbours, thread: threadWeight } = query.weights
  const conditions = query.only.conditions.map(memberships)
  const scores = new Scores()
  for (const [thread, scored] of own) {
    if (query.only.thread !== null && query.only.thread !== thread) continue
    const ofThread = threadWeight * (ofThreads.get(thread) ?? 0)
    const members = conditions.map((condition) => condition.get(thread))
    const sums = new ThreadScores()
    const add = (seq: number, score: number) => {
      if (seq < 1 || score === 0 || !members.every((each) => each !== undefined && each.get(seq) > 0)) return
      sums.add(seq, sums.get(seq) === 0 ? ofThread + score : score)
    }
    scored.each((seq, score) => {
      add(seq, score)
      for (let index = 0; index < neighbours.length; index++) {
        const share = (neighbours[index] ?? 0) * score
        add(seq - index - 1, share)
        add(seq + index + 1, share)
      }
    })
    scores.set(thread, sums)
    yield
  }
  return scores
}

function addSpeakers(scores: Scores, { speakers, weights }: WordQuery): void {
  if (weights.speaker === 0) return
  for (const [thread, named] of memberships(speakers)) {
    const sums = scores.get(thread)
    if (sums === undefined) continue
    named.each((seq) => {
      if (sums.get(seq) > 0) sums.add(seq, weights.speaker)
    })
  }
}

function best(scores: Scores, { limit }: WordQuery): Ranking {
  const all: number[] = []
  for (const sums of scores.values()) sums.each((_, score) => all.push(score))
  const least = all.length <= limit ? 0 : nthLargest(Float64Array.from(all), limit)
  const documents: RankedDocument[] = []
  for (const [thread, sums] of scores) {
    sums.each((seq, score) => {
      if (score >= least) documents.push({ thread, seq, score })
    })
  }
  documents.sort((left, right) => right.score - left.score || right.thread - left.thread || right.seq - left.seq)
  return { documents: documents.slice(0, limit), found: all.length }
}
