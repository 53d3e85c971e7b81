import type { IncludeMode, ItemKey, RequestItem } from '@heddle/contracts'
import { compareItems, effectiveInclude, type Item } from './item.js'
import type { Selection } from './selection.js'

/** An item that a thread holds, by name alone: what the name stands for is looked up for each request. */
export interface ThreadItem {
  readonly itemId: string
  readonly includeMode: 'always' | 'manual'
}

/** An item in the context of a request, and how it came there. */
export interface IncludedItem<Included extends Item = Item> {
  readonly item: Included
  readonly includeMode: IncludeMode
  /** Of those that were selected by their meaning. */
  readonly score?: number
}

export interface ThreadShare<Included extends Item = Item> {
  /** The thread's own, in the order in which they are sent. */
  readonly included: readonly IncludedItem<Included>[]
  /** Those that the request may select by their meaning. */
  readonly candidates: readonly Included[]
}

/**
 * Parts the agent's items by what they are to a thread. What the thread holds is included whatever its mode is by now; of
 * the others those with the mode `agent` may be selected. A name that the agent has no item for any more is passed over.
 */
export function shareForThread<Included extends Item>(
  items: readonly Included[],
  held: readonly ThreadItem[],
): ThreadShare<Included> {
  const modes = new Map(held.map(({ itemId, includeMode }) => [itemId, includeMode]))
  const included: IncludedItem<Included>[] = []
  const candidates: Included[] = []
  for (const item of [...items].sort(compareItems)) {
    const includeMode = modes.get(item.itemId)
    if (includeMode !== undefined) included.push({ item, includeMode })
    else if (effectiveInclude(item) === 'agent') candidates.push(item)
  }
  return { included, candidates }
}

/** What a selection adds to a request, the best first. */
export function selectedItems<Selected extends Item>({ selected }: Selection<Selected>): IncludedItem<Selected>[] {
  return selected.map(({ item, score }) => ({ item, includeMode: 'agent', score }))
}

/** Scores are told to four places: more would only be noise of rounded vectors. */
const SCORE_SCALE = 10_000

export function roundScore(score: number): number {
  return Math.round(score * SCORE_SCALE) / SCORE_SCALE
}

/** As a context keeps it (docs/items.md#what-a-context-says). */
export function requestItem({ item, includeMode, score }: IncludedItem): RequestItem {
  return {
    ...itemKey(item),
    includeMode,
    ...(score !== undefined && { similarityScore: roundScore(score) }),
  }
}

export function itemKey({ type, name, serverName }: Pick<Item, 'type' | 'name' | 'serverName'>): ItemKey {
  return { type, name, ...(type === 'tool' && { serverName }) }
}
