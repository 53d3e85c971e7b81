import { calibratedScore } from './calibration.js'
import { Scores } from './scores.js'
import type { NearDocument } from './vectors/nearest.js'
import { isHashingModel } from './vectors/remade-vectors.js'
import type { RankedDocument } from './word-query.js'

/** Weights of vector similarity, relative to a score of 1 for the document that words rank first. */
export interface VectorWeights {
  /** Independent of the query. */
  readonly always: number
  /** Added in proportion to the query's unknown words, from half of them on: fully if the scope has no query word. */
  readonly unknownWords: number
}

/**
 * The weights for vectors of a model. The hashing embedder sees the same words as word search, less exactly: it helps
 * if the scope spells most of a query differently; used always, it makes results worse than words alone. A semantic
 * model also finds paraphrases.
 */
export function vectorWeightsOf(model: string): VectorWeights {
  return isHashingModel(model) ? { always: 0, unknownWords: 0.3 } : { always: 0.1, unknownWords: 0.3 }
}

/**
 * Whether two texts of this similarity are related. The nearest need not be: if nothing is related to the query,
 * nothing should be found.
 */
export function isNear(model: string, cosine: number): boolean {
  return calibratedScore(model, cosine) >= UNRELATED_SCORE_MAX
}

/** The most that unrelated texts reach: see `calibratedScore`. */
const UNRELATED_SCORE_MAX = 0.2

/** Weight of vector similarity in one search. */
export function weightOf(weights: VectorWeights, { unknownShare }: Pick<Rankings, 'unknownShare'>): number {
  // Known words find the subject of a query, as long as they are half of it.
  return weights.always + weights.unknownWords * Math.max(0, 2 * unknownShare - 1)
}

export interface Rankings {
  /** The best first. */
  readonly words: readonly RankedDocument[]
  /** The nearest first. */
  readonly vectors: readonly NearDocument[]
  /** The share of the query's words that no document of the scope has, from 0 to 1. */
  readonly unknownShare: number
  readonly weights: VectorWeights
  /** Shares of the similarity for documents one position away, two positions away, and so on: as for words. */
  readonly neighbours: readonly number[]
  /** Whether a document may be a result; a neighbor of a similar one may be of another kind. */
  readonly isWanted: (thread: number, seq: number) => boolean
}

/**
 * Fuses two rankings into one, in the unit of the word ranking. Fusing ranks would not do: of two consecutive
 * documents, one may be far better. So similarity is scaled from the last to the first of the nearest documents, and
 * counts for a share of the best score by words.
 */
export function fuseRankings({ words, unknownShare, weights, ...near }: Rankings): RankedDocument[] {
  const weight = weightOf(weights, { unknownShare })
  if (weight === 0) return [...words]
  const unit = words[0]?.score ?? 1
  const scores = new Scores()
  for (const { thread, seq, score } of words) scores.of(thread).add(seq, score)
  for (const [thread, shares] of nearness(near)) {
    shares.each((seq, share) => scores.of(thread).add(seq, weight * unit * share))
  }
  return ranked(scores)
}

export interface Legs extends Rankings {
  /** Null without vectors. */
  readonly model: string | null
}

/** The ranking by both legs, or by one of them. */
export function fuseLegs(by: 'words' | 'meaning' | 'both', { model, vectors, ...legs }: Legs): RankedDocument[] {
  if (by === 'meaning') return rankNearest({ ...legs, vectors })
  return fuseRankings({ ...legs, vectors: vectors.filter(({ cosine }) => model !== null && isNear(model, cosine)) })
}

/** Ranks the nearest documents by vectors alone, with their neighbors, from 1 down. */
export function rankNearest(near: NearRankings): RankedDocument[] {
  return ranked(nearness(near))
}

type NearRankings = Pick<Rankings, 'vectors' | 'neighbours' | 'isWanted'>

function nearness({ vectors, neighbours, isWanted }: NearRankings): Scores {
  const [best, last] = [vectors[0]?.cosine ?? 0, vectors.at(-1)?.cosine ?? 0]
  const floor = vectors.length > 1 ? Math.max(0, last) : 0
  const scores = new Scores()
  let most = 0
  const add = (thread: number, seq: number, share: number) => {
    if (seq < 1 || share <= 0 || !isWanted(thread, seq)) return
    const scored = scores.of(thread)
    scored.add(seq, share)
    most = Math.max(most, scored.get(seq))
  }
  for (const { thread, seq, cosine } of vectors) {
    const share = Math.max(LEAST, (cosine - floor) / Math.max(LEAST, best - floor))
    add(thread, seq, share)
    for (const [index, of] of neighbours.entries()) {
      add(thread, seq - index - 1, of * share)
      add(thread, seq + index + 1, of * share)
    }
  }
  const relative = new Scores()
  for (const [thread, scored] of scores) scored.each((seq, share) => relative.of(thread).add(seq, share / most))
  return relative
}

/** Every found document has a positive score. */
const LEAST = 1e-6

function ranked(scores: Scores): RankedDocument[] {
  const documents: RankedDocument[] = []
  for (const [thread, scored] of scores) {
    scored.each((seq, score) => {
      documents.push({ thread, seq, score })
    })
  }
  return documents.sort((left, right) => right.score - left.score || right.thread - left.thread || right.seq - left.seq)
}
