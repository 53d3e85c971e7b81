import { itemTypes, type SelectionLimits, type SelectionTypes } from '@heddle/contracts'
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

/**
 * The same for types of items with parameters of their own: each of these is a domain apart, so that many tools displace no
 * rule. Types without parameters are selected together.
 */
export function selectByType<Selected extends Item>(
  candidates: readonly Candidate<Selected>[],
  limits: SelectionLimits,
  types: SelectionTypes,
): Selection<Selected> {
  const together = candidates.filter(({ item }) => types[item.type] === undefined)
  const selections = [
    selectItems(together, limits),
    ...itemTypes.flatMap((type) => {
      const own = types[type]
      if (own === undefined) return []
      const ofType = candidates.filter(({ item }) => item.type === type)
      const { enabled = true, ...figures } = own
      return [enabled ? selectItems(ofType, { ...limits, ...defined(figures) }) : switchedOff(ofType)]
    }),
  ]
  return {
    selected: selections.flatMap(({ selected }) => selected).sort(byScore),
    leftOut: selections.flatMap(({ leftOut }) => leftOut).sort(byLeftScore),
  }
}

function switchedOff<Selected extends Item>(candidates: readonly Candidate<Selected>[]): Selection<Selected> {
  return {
    selected: [],
    leftOut: candidates.map(({ item }) => ({ item, score: null, reason: `the selection of each ${item.type} is off` })),
  }
}

function defined(figures: Partial<{ [Name in keyof SelectionLimits]: number | undefined }>): Partial<SelectionLimits> {
  return Object.fromEntries(Object.entries(figures).filter(([, figure]) => figure !== undefined))
}

/** The most that a large budget multiplies `topN` by. */
const FIT_FACTOR_MAX = 4

/**
 * Scales the numbers of chunks and items to a budget: as many items of mean size as it holds, at least one.
 *
 * @param roomTokens the tokens for selected items
 * @param itemTokens the tokens of each candidate
 */
export function fitSelection<Limits extends SelectionLimits>(
  limits: Limits,
  { roomTokens, itemTokens }: { readonly roomTokens: number; readonly itemTokens: readonly number[] },
): Limits {
  const sum = itemTokens.reduce((total, tokens) => total + tokens, 0)
  if (sum === 0 || limits.topN === 0) return limits
  const held = Math.floor((roomTokens * itemTokens.length) / sum)
  const topN = Math.max(1, Math.min(held, limits.topN * FIT_FACTOR_MAX))
  return { ...limits, topN, topK: Math.max(topN, Math.ceil((limits.topK * topN) / limits.topN)) }
}

function byLeftScore(left: LeftOut, right: LeftOut): number {
  return (right.score ?? -1) - (left.score ?? -1) || compareItems(left.item, right.item)
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
