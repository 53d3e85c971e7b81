import type { JsonObject } from '@heddle/contracts'
import type { Item } from './item.js'
import { type IncludedItem, selectedItems, type ThreadShare } from './request-items.js'
import type { LeftOut, Selection } from './selection.js'
import { toolNames } from './tool-names.js'

/** An item with its text, as a context shows it. */
export interface FullItem extends Item {
  readonly text: string
  /** A tool's input schema; null for other types. */
  readonly inputSchema: JsonObject | null
}

export interface ContextItems {
  /** The thread's own items, in the order in which they are sent. */
  readonly held: readonly IncludedItem<FullItem>[]
  /** Items selected for the request by meaning, the best first. */
  readonly selected: readonly IncludedItem<FullItem>[]
  readonly leftOut: readonly LeftOut[]
  /** Outcome of the selection; null if there was nothing to select from. */
  readonly selection: SelectionOutcome | null
  /** Names under which tools are called, by item id. */
  readonly toolNames: ReadonlyMap<string, string>
  /** Number of further items that the request's scope excludes. */
  readonly outsideScope: number
}

export interface SelectionOutcome {
  /** The embedding model that scored; null without a selection. */
  readonly model: string | null
  /** Why nothing was selected; null if a selection was made. */
  readonly skipped: string | null
}

interface Shared {
  /** All items of the agent. */
  readonly items: readonly FullItem[]
  readonly share: ThreadShare<FullItem>
  /** Number of items that the request's scope excludes. Default 0. */
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

/** @param skipped why nothing was selected; null if there was nothing to select from */
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
