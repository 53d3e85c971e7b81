import type { IncludeMode, ItemKey, RequestItem } from '@heddle/contracts'
import { compareItems, effectiveInclude, type Item } from './item.js'
import type { Selection } from './selection.js'

/** An item that a thread holds, by name only: the name is resolved at each request. */
export interface ThreadItem {
  readonly itemId: string
  readonly includeMode: 'always' | 'manual'
}

/** An item in the context of a request, and why it is included. */
export interface IncludedItem<Included extends Item = Item> {
  readonly item: Included
  readonly includeMode: IncludeMode
  /** Only for items selected by meaning. */
  readonly score?: number
}

export interface ThreadShare<Included extends Item = Item> {
  /** The thread's own items, in the order in which they are sent. */
  readonly included: readonly IncludedItem<Included>[]
  /** Items that the request may select by meaning. */
  readonly candidates: readonly Included[]
}

/**
 * Divides the agent's items from the view of a thread. Items of the thread are included whatever their current mode; of
 * the others, those with the mode `agent` may be selected. A name that the agent no longer has an item for is skipped.
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

/** The items that a selection adds to a request, the best first. */
export function selectedItems<Selected extends Item>({ selected }: Selection<Selected>): IncludedItem<Selected>[] {
  return selected.map(({ item, score }) => ({ item, includeMode: 'agent', score }))
}

/** Scores are rounded to four places: further digits are noise of quantized vectors. */
const SCORE_SCALE = 10_000

export function roundScore(score: number): number {
  return Math.round(score * SCORE_SCALE) / SCORE_SCALE
}

/** The form stored with a context (docs/items.md#what-a-context-says). */
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
