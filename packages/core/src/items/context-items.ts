import type { JsonObject } from '@heddle/contracts'
import type { Item } from './item.js'
import { type IncludedItem, selectedItems, type ThreadShare } from './request-items.js'
import type { LeftOut, Selection } from './selection.js'
import { toolNames } from './tool-names.js'

/** An item with what it says, as a context shows it. */
export interface FullItem extends Item {
  readonly text: string
  /** Of a tool: its input schema. */
  readonly inputSchema: JsonObject | null
}

/** The items of one context. */
export interface ContextItems {
  /** Those of the thread, in the order in which they are sent. */
  readonly held: readonly IncludedItem<FullItem>[]
  /** Those that the request selects by their meaning, the best first. */
  readonly selected: readonly IncludedItem<FullItem>[]
  readonly leftOut: readonly LeftOut[]
  /** How the selection went; null where there was nothing to select from. */
  readonly selection: SelectionOutcome | null
  /** The names under which tools are called, by item id. */
  readonly toolNames: ReadonlyMap<string, string>
  /** How many more there would be without the request's scope. */
  readonly outsideScope: number
}

export interface SelectionOutcome {
  /** The model that judged; null where none did. */
  readonly model: string | null
  /** Why nothing was selected; null where a selection took place. */
  readonly skipped: string | null
}

interface Shared {
  /** All of the agent's. */
  readonly items: readonly FullItem[]
  readonly share: ThreadShare<FullItem>
  /** How many of them the request's scope keeps out. Default none. */
  readonly outsideScope?: number
}

export function itemsWithSelection(
  { items, share, outsideScope = 0 }: Shared,
  model: string,
  selection: Selection<FullItem>,
): ContextItems {
  return {
    held: share.included,
    selected: selectedItems(selection),
    leftOut: selection.leftOut,
    selection: { model, skipped: null },
    toolNames: toolNames(items),
    outsideScope,
  }
}

/** @param skipped why nothing was selected; null where there was nothing to select from */
export function itemsWithout({ items, share, outsideScope = 0 }: Shared, skipped: string | null): ContextItems {
  return {
    held: share.included,
    selected: [],
    leftOut: skipped === null ? [] : share.candidates.map((item) => ({ item, score: null, reason: skipped })),
    selection: skipped === null ? null : { model: null, skipped },
    toolNames: toolNames(items),
    outsideScope,
  }
}
