import type { Pausable } from '../../recall/steps.js'
import { isReply, lengthOf, timesOf } from '../measure.js'
import { Members } from '../members.js'
import { memberships, rangeInScope } from '../memberships.js'
import { decodePostings } from '../posting-runs.js'
import { readPostings } from '../postings.js'
import { Scores } from '../scores.js'
import type { Ranking, ScopeStatistics, WordQuery } from '../word-query.js'
import { BestDocuments } from './best.js'
import { PassageReader } from './passage-reader.js'
import type { ScoredTerm, TermRun } from './scored-term.js'
import { ThreadDocuments } from './thread-documents.js'

/** BM25's constants: how soon repetitions of a word stop counting, and how much long texts are penalized. */
const PASSAGE_CONSTANTS = { saturation: 0.9, lengthWeight: 0.4 }
/**
 * Added for a term that occurs at all, however long the passage: the lower bound of BM25+ (Lv and Zhai, 2011). Without it a long
 * passage with two words of a query is below a short one with one of them.
 */
const OCCURRENCE = 0.35
const THREAD_CONSTANTS = { saturation: 1.2, lengthWeight: 0.75 }
/** Terms of a passage of a longer message: its own length is not stored. */
const PASSAGE_LENGTH = 60
/** Part of the thread's share for a message without a term of the query, which only those beside it have. */
export const BESIDE_SHARE = 0.85

/**
 * Ranks the documents of a scope by the words of a query: by BM25 of their best passages, and by the parts of
 * {@link WordQuery.weights} beside it. In a conversation an answer seldom repeats the words of its question, so
 * neighboring documents indicate a document's subject. The same postings give the same order, however they are divided
 * into lists.
 */
export function* rankWords(query: WordQuery): Pausable<Ranking> {
  const parts = yield* scoreTerms(query)
  const best = new BestDocuments(query.limit)
  const found = yield* sumUp(parts, query, best)
  return { documents: best.take(), found }
}

/** The postings of all terms by their threads, and the scores of the threads. */
export function* scoreTerms(query: WordQuery): Pausable<Parts> {
  const runs = new Map<number, TermRun[]>()
  const ofThreads = new Map<number, number>()
  const scored: ScoredTerm[] = []
  const threadLengthAverage = average(query.threadLengths.values())
  let weightOfAll = 0
  for (const { term, lists, weight } of query.terms) {
    const postings = decodePostings(lists)
    if (postings.count === 0) continue
    yield
    const rarity = weight * rarityOf(postings.messages, query.scope)
    weightOfAll += rarity
    const ofTerm = { term, lists, postings, rarity, scoreOf: scoresByMeasure(rarity, query.scope) }
    scored.push(ofTerm)
    for (const [thread, times] of addRuns(ofTerm, runs)) {
      const relativeLength = (query.threadLengths.get(thread) ?? 0) / threadLengthAverage
      const score = rarity * saturated(times, relativeLength, THREAD_CONSTANTS)
      ofThreads.set(thread, (ofThreads.get(thread) ?? 0) + score)
    }
    yield
  }
  return { runs, weightOfAll, ofThreads, terms: scored }
}

/** Weight of a word that this many documents contain. */
export function rarityOf(holders: number, { documents }: Pick<ScopeStatistics, 'documents'>): number {
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

function saturated(times: number, relativeLength: number, of: typeof PASSAGE_CONSTANTS): number {
  const { saturation, lengthWeight } = of
  return (times * (saturation + 1)) / (times + saturation * (1 - lengthWeight + lengthWeight * relativeLength))
}

/** The score of a term in a passage by its measure, which is a byte: few distinct values, many passages. */
function scoresByMeasure(rarity: number, scope: ScopeStatistics): Float64Array {
  const lengthAverage = Math.min(PASSAGE_LENGTH, Math.max(1, scope.length / Math.max(1, scope.documents)))
  return Float64Array.from({ length: 256 }, (_, measure) => {
    const length = Math.min(PASSAGE_LENGTH, lengthOf(measure))
    return rarity * (OCCURRENCE + saturated(timesOf(measure), length / lengthAverage, PASSAGE_CONSTANTS))
  })
}

/** Adds the postings of one term to those of each thread, and returns its frequency by thread. */
function addRuns(of: ScoredTerm, runs: Map<number, TermRun[]>): Map<number, number> {
  const timesByThread = new Map<number, number>()
  const { measures } = of.postings
  for (const { thread, from, to } of of.postings.runs) {
    const run = { of, from, to }
    const known = runs.get(thread)
    if (known === undefined) runs.set(thread, [run])
    else known.push(run)
    let times = timesByThread.get(thread) ?? 0
    for (let index = from; index < to; index++) times += timesOf(measures[index] as number)
    timesByThread.set(thread, times)
  }
  return timesByThread
}

export interface Parts {
  /** The terms that occur in the scope. */
  readonly terms: readonly ScoredTerm[]
  /** By thread, in the order of the terms. */
  readonly runs: ReadonlyMap<number, readonly TermRun[]>
  /** The weights of all terms that occur in the scope. */
  readonly weightOfAll: number
  readonly ofThreads: ReadonlyMap<number, number>
}

/**
 * Adds to each document the shares of its neighbors and its thread, and its bonus for the speaker, and adds the
 * permitted ones to `best`.
 *
 * @returns the number of permitted documents
 */
function* sumUp(
  { runs, weightOfAll, ofThreads }: Parts,
  { weights, only, terms, replies, asksForTime }: WordQuery,
  best: BestDocuments,
): Pausable<number> {
  const conditions = only.conditions.map(memberships)
  const spoken: Scores = weights.speaker === 0 ? new Scores() : memberships(terms.flatMap(({ speakers }) => speakers))
  const ofReplies = weights.replies === 1 ? new Members() : repliesIn(replies)
  const times = asksForTime ? 1 + weights.times : 1
  const documents = new ThreadDocuments({
    weightOfAll,
    neighbours: weights.neighbours,
    ofReply: Math.sqrt(weights.replies),
  })
  let found = 0
  for (const [thread, ofTerms] of runs) {
    const range = rangeInScope(only, thread)
    if (range === null) continue
    const ofThread = weights.thread * (ofThreads.get(thread) ?? 0)
    const members = conditions.map((condition) => condition.get(thread))
    if (members.some((each) => each === undefined)) continue
    const named = spoken.get(thread)
    documents.read(new PassageReader(ofTerms))
    documents.each((seq, score, own, isDated) => {
      if (seq <= range.afterSeq || seq > range.toSeq) return
      if (members.length > 0 && !members.every((each) => each !== undefined && each.get(seq) > 0)) return
      found++
      const ofSpeaker = named !== undefined && named.get(seq) > 0 ? weights.speaker : 0
      const side = ofReplies.has(thread, seq) ? weights.replies : 1
      const shared = own > 0 ? ofThread : BESIDE_SHARE * ofThread
      best.add(thread, seq, side * (isDated ? times : 1) * (shared + score + ofSpeaker))
    })
    yield
  }
  return found
}

/** The documents that a model wrote. */
export function repliesIn(lists: readonly Uint8Array[]): Members {
  const members = new Members()
  for (const list of lists) {
    readPostings(list, (thread, seq, measure) => {
      if (isReply(measure)) members.add(thread, seq)
    })
  }
  return members
}
