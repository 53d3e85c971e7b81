import type { SelectionLimits } from '@heddle/contracts'
import { compareItems, type Item } from './item.js'

/** An item that may be selected, with the similarity of each of its chunks to the query: see `calibratedScore`. */
export interface Candidate<Selected extends Item = Item> {
  readonly item: Selected
  readonly chunkScores: readonly number[]
}

export interface Scored<Selected extends Item = Item> {
  readonly item: Selected
  readonly score: number
}

export interface LeftOut<Selected extends Item = Item> {
  readonly item: Selected
  readonly score: number | null
  readonly reason: string
}

export interface Selection<Selected extends Item = Item> {
  /** The best first. */
  readonly selected: readonly Scored<Selected>[]
  /** The best first. */
  readonly leftOut: readonly LeftOut<Selected>[]
}

/**
 * Selection (docs/items.md#selection): of the `topK` chunks nearest to the query, each item's best; of those items the
 * best `topN`, and beyond them all that reach `includeScore`. Equal scores are ordered as the items are, so the same
 * items and the same query give the same selection.
 *
 * Items below `minScore` are left out even if fewer than `topN` are selected.
 */
export function selectItems<Selected extends Item>(
  candidates: readonly Candidate<Selected>[],
  { topK, topN, includeScore, minScore }: SelectionLimits,
): Selection<Selected> {
  const considered = nearestItems(candidates, topK)
  const selected: Scored<Selected>[] = []
  const leftOut: (LeftOut<Selected> & Scored<Selected>)[] = []
  for (const { item, chunkScores } of candidates) {
    if (considered.has(item.itemId)) continue
    const score = Math.max(0, ...chunkScores)
    leftOut.push({ item, score, reason: `none of its chunks is among the nearest ${topK}` })
  }
  for (const [place, scored] of [...considered.values()].sort(byScore).entries()) {
    if (scored.score < minScore) {
      leftOut.push({ ...scored, reason: `not related to the request: its score is below ${minScore}` })
    } else if (place < topN || scored.score >= includeScore) selected.push(scored)
    else leftOut.push({ ...scored, reason: `not among the best ${topN}, and its score is below ${includeScore}` })
  }
  return { selected, leftOut: leftOut.sort(byScore) }
}

function byScore(left: Scored, right: Scored): number {
  return right.score - left.score || compareItems(left.item, right.item)
}

/** The items of the nearest chunks, each with the score of its best chunk. */
function nearestItems<Selected extends Item>(
  candidates: readonly Candidate<Selected>[],
  topK: number,
): Map<string, Scored<Selected>> {
  const chunks = candidates.flatMap(({ item, chunkScores }) => chunkScores.map((score) => ({ item, score })))
  const best = new Map<string, Scored<Selected>>()
  for (const chunk of chunks.sort(byScore).slice(0, topK)) {
    if (!best.has(chunk.item.itemId)) best.set(chunk.item.itemId, chunk)
  }
  return best
}
