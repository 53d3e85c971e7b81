import type { Pausable } from '../recall/steps.js'
import { calibratedScore } from './calibration.js'
import { readPostings } from './postings.js'
import { rarityOf } from './rank/rank.js'
import { Scores } from './scores.js'
import type { NearDocument } from './vectors/nearest.js'
import type { RankedDocument, WordQuery } from './word-query.js'

export interface Judged {
  /** The best first. */
  readonly documents: readonly RankedDocument[]
  readonly query: Pick<WordQuery, 'terms' | 'scope'>
  /**
   * The nearest messages by vectors of `model`; empty if only words were searched, or the vectors add nothing to words.
   */
  readonly vectors: readonly NearDocument[]
  readonly model: string | null
}

/** Maximum number of documents scored: enough for the recall limit after removing those the context shows anyway. */
const JUDGED_MAX = 500
/** A query word in a neighboring message counts half as much as one in the document itself. */
const BESIDE = 0.5

/**
 * Rescores ranked documents by how much of the query they are about, since ranking scores only compare documents: 1 has
 * all of its words, or the same meaning, and 0 is unrelated. So a threshold is valid for each query. Words are weighted
 * by rarity, including those that no document has; the higher of word share and similarity counts.
 *
 * The order stays that of the ranking, which uses more signals; a document found only by similarity is placed before
 * those less about the query.
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

/** The weighted share of the query's words in each document, from 0 to 1. */
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
    // A word that no document has weighs as much as one in a single document; with few documents it would outweigh all
    // others.
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
