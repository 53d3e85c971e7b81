import type { Pausable } from '../recall/steps.js'
import { BestDocuments } from './best.js'
import { memberships } from './memberships.js'
import { decodePostings, lengthOf, type PostingRuns, timesOf } from './postings.js'
import { PAGE_DOCUMENTS, Scores, ThreadScores } from './scores.js'
import type { Ranking, ScopeStatistics, WordQuery } from './word-query.js'

/** BM25's constants: how soon repetitions of a word stop counting, and how much long texts are penalized. */
const DOCUMENT_CONSTANTS = { saturation: 0.9, lengthWeight: 0.4 }
const THREAD_CONSTANTS = { saturation: 1.2, lengthWeight: 0.75 }

/**
 * Ranks the documents of a scope by the words of a query: by BM25, and by the parts of {@link WordQuery.weights} beside
 * it. In a conversation an answer seldom repeats the words of its question, so neighboring documents indicate a
 * document's subject. The same postings give the same order, however they are divided into lists.
 */
export function* rankWords(query: WordQuery): Pausable<Ranking> {
  const own = new Scores()
  const ofThreads = new Map<number, number>()
  const threadLengthAverage = average(query.threadLengths.values())
  for (const { lists } of query.terms) {
    const postings = decodePostings(lists)
    const holders = postings.count
    if (holders === 0) continue
    yield
    const rarity = rarityOf(holders, query.scope)
    const timesByThread = scoreTerm(postings, { rarity, own, scope: query.scope })
    for (const [thread, times] of timesByThread) {
      const relativeLength = (query.threadLengths.get(thread) ?? 0) / threadLengthAverage
      const score = rarity * saturated(times, relativeLength, THREAD_CONSTANTS)
      ofThreads.set(thread, (ofThreads.get(thread) ?? 0) + score)
    }
    yield
  }
  const best = new BestDocuments(query.limit)
  const found = yield* sumUp(own, ofThreads, query, best)
  return { documents: best.take(), found }
}

/** Weight of a word that this many documents contain. */
export function rarityOf(holders: number, { documents }: ScopeStatistics): number {
  return Math.log(1 + (Math.max(0, documents - holders) + 0.5) / (holders + 0.5))
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

function saturated(
  times: number,
  relativeLength: number,
  { saturation, lengthWeight }: typeof DOCUMENT_CONSTANTS,
): number {
  return (times * (saturation + 1)) / (times + saturation * (1 - lengthWeight + lengthWeight * relativeLength))
}

/** Adds one term's scores to those of the documents, and returns its frequency by thread. */
function scoreTerm(
  postings: PostingRuns,
  { rarity, own, scope }: { rarity: number; own: Scores; scope: ScopeStatistics },
): Map<number, number> {
  const lengthAverage = Math.max(1, scope.length / Math.max(1, scope.documents))
  // A measure is a byte: few distinct values, many documents.
  const scoreOf = Float64Array.from({ length: 256 }, (_, measure) => {
    return rarity * saturated(timesOf(measure), lengthOf(measure) / lengthAverage, DOCUMENT_CONSTANTS)
  })
  const timesByThread = new Map<number, number>()
  const { seqs, measures } = postings
  for (const { thread, from, to } of postings.runs) {
    const scored = own.of(thread)
    let times = 0
    for (let index = from; index < to; index++) {
      const measure = measures[index] as number
      scored.add(seqs[index] as number, scoreOf[measure] as number)
      times += timesOf(measure)
    }
    timesByThread.set(thread, (timesByThread.get(thread) ?? 0) + times)
  }
  return timesByThread
}

/**
 * Adds to each document the shares of its neighbors and its thread, and its bonus for the speaker, and adds the
 * permitted ones to `best`.
 *
 * @returns the number of permitted documents
 */
function* sumUp(
  own: Scores,
  ofThreads: ReadonlyMap<number, number>,
  { weights, only, terms }: WordQuery,
  best: BestDocuments,
): Pausable<number> {
  const conditions = only.conditions.map(memberships)
  const spoken: Scores = weights.speaker === 0 ? new Scores() : memberships(terms.flatMap(({ speakers }) => speakers))
  let found = 0
  for (const [thread, scored] of own) {
    if (only.thread !== null && only.thread !== thread) continue
    const ofThread = weights.thread * (ofThreads.get(thread) ?? 0)
    const members = conditions.map((condition) => condition.get(thread))
    if (members.some((each) => each === undefined)) continue
    const named = spoken.get(thread)
    for (const [number, page] of withNeighbours(scored, weights.neighbours).pages) {
      const first = number * PAGE_DOCUMENTS
      for (let index = first === 0 ? 1 : 0; index < PAGE_DOCUMENTS; index++) {
        const score = page[index] as number
        if (score === 0) continue
        const seq = first + index
        if (members.length > 0 && !members.every((each) => each !== undefined && each.get(seq) > 0)) continue
        found++
        const ofSpeaker = named !== undefined && named.get(seq) > 0 ? weights.speaker : 0
        best.add(thread, seq, ofThread + score + ofSpeaker)
      }
    }
    yield
  }
  return found
}

/** Each score, plus shares of it for the neighboring documents. */
function withNeighbours(own: ThreadScores, shares: readonly number[]): ThreadScores {
  const sums = new ThreadScores()
  const reach = shares.length
  for (const [number, scores] of own.pages) {
    const first = number * PAGE_DOCUMENTS
    const page = sums.page(number)
    for (let index = 0; index < PAGE_DOCUMENTS; index++) {
      const score = scores[index] as number
      if (score === 0) continue
      page[index] = (page[index] as number) + score
      const isInside = index >= reach && index + reach < PAGE_DOCUMENTS
      for (let distance = 1; distance <= reach; distance++) {
        const share = (shares[distance - 1] as number) * score
        if (isInside) {
          page[index - distance] = (page[index - distance] as number) + share
          page[index + distance] = (page[index + distance] as number) + share
          continue
        }
        if (first + index >= distance) sums.add(first + index - distance, share)
        sums.add(first + index + distance, share)
      }
    }
  }
  return sums
}
