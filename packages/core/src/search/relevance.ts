import type { Pausable } from '../recall/steps.js'
import { calibratedScore } from './calibration.js'
import type { NearDocument } from './nearest.js'
import { readPostings } from './postings.js'
import { rarityOf } from './rank.js'
import { Scores } from './scores.js'
import type { RankedDocument, WordQuery } from './word-query.js'

export interface Judged {
  /** The best first. */
  readonly documents: readonly RankedDocument[]
  readonly query: Pick<WordQuery, 'terms' | 'scope'>
  /** The nearest messages by vectors of `model`; none where words were searched, or vectors that know no more than those. */
  readonly vectors: readonly NearDocument[]
  readonly model: string | null
}

/** Documents that are judged at most: enough for what a context may recall, after what it shows anyway. */
const JUDGED_MAX = 500
/** A word that stands beside a document, in the message before or after, says half as much of it as one that is in it. */
const BESIDE = 0.5

/**
 * Documents with scores that say how much of the query they are about, where a ranking says only which of them is better: 1
 * holds all of its words, or means the same, and 0 nothing of it. So a threshold holds for each query. Words count by their
 * rarity, those that nobody holds too; of words and nearness the better counts.
 *
 * The order stays that of the ranking, which knows more than this; what is near in meaning alone comes before what is less
 * about the query.
 */
export function* byRelevance({ documents, query, vectors, model }: Judged): Pausable<RankedDocument[]> {
  const judged = documents.slice(0, JUDGED_MAX)
  const cosines = new Scores()
  for (const { thread, seq, cosine } of vectors) cosines.of(thread).add(seq, cosine)
  const shares = yield* sharesOfQuery(judged, query)
  const unit = Math.max(0, ...shares) / Math.max(Number.MIN_VALUE, judged[0]?.score ?? 0)
  return judged
    .map(({ thread, seq, score }, index) => {
      const near = model === null ? 0 : calibratedScore(model, cosines.get(thread)?.get(seq) ?? 0)
      const document = { thread, seq, score: Math.max(near, shares[index] ?? 0) }
      return { document, place: Math.max(near, unit * score) }
    })
    .sort((left, right) => right.place - left.place)
    .map(({ document }) => document)
}

/** How much of the query's words each document holds, from 0 to 1. */
function* sharesOfQuery(
  documents: readonly RankedDocument[],
  { terms, scope }: Judged['query'],
): Pausable<Float64Array> {
  const looked = new Scores()
  for (const { thread, seq } of documents) for (const at of [seq - 1, seq, seq + 1]) looked.of(thread).add(at, 1)
  const shares = new Float64Array(documents.length)
  let all = 0
  for (const { lists, speakers } of terms) {
    const held = new Scores()
    let holders = 0
    for (const list of [...lists, ...speakers]) {
      readPostings(list, (thread, seq) => {
        holders++
        if ((looked.get(thread)?.get(seq) ?? 0) > 0) held.of(thread).add(seq, 1)
      })
      yield
    }
    // A word that nobody holds weighs as much as one that a single document holds: of few documents it would count for all.
    const weight = rarityOf(Math.max(1, holders), scope)
    all += weight
    for (const [index, { thread, seq }] of documents.entries()) {
      const scored = held.get(thread)
      if (scored === undefined) continue
      const isBeside = scored.get(seq - 1) > 0 || scored.get(seq + 1) > 0
      shares[index] = (shares[index] ?? 0) + weight * (scored.get(seq) > 0 ? 1 : isBeside ? BESIDE : 0)
    }
  }
  return all === 0 ? shares : shares.map((share) => share / all)
}
