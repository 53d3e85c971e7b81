import type { ContextResult, IncludeMode, Receipt, ReceiptEntry } from '@heddle/contracts'
import { type IncludedItem, requestItem } from '../items/index.js'
import type { BuildInput } from './input.js'
import type { FixedSection } from './section.js'
import { toolsIn } from './sections.js'

/** Unselected items named one by one on receipt lines; the rest are counted. */
const LEFT_OUT_NAMED_MAX = 20

const reasons: Readonly<Record<IncludeMode, string>> = {
  always: 'came with the thread',
  manual: 'added to the thread by hand',
  agent: 'selected by meaning',
}

export function includedItem(included: IncludedItem): NonNullable<ReceiptEntry['item']> {
  const { itemId, version } = included.item
  return { ...requestItem(included), itemId, version }
}

/** @param cut why its text was cut */
export function includedReason({ includeMode }: IncludedItem, cut: string | null): string {
  return cut === null ? reasons[includeMode] : `${reasons[includeMode]}; ${cut}`
}

/** Tools that a context offers beside its messages, and the names of all its items. */
export function shownItems(sections: readonly FixedSection[]): Pick<ContextResult, 'tools' | 'items'> {
  const included = includedIn(sections)
  const withMode = (mode: IncludeMode) => included.filter(({ includeMode }) => includeMode === mode)
  const selected = withMode('agent').sort((left, right) => (right.score ?? 0) - (left.score ?? 0))
  return {
    tools: toolsIn(sections).map(({ rendered }) => rendered),
    items: [...withMode('always'), ...withMode('manual'), ...selected].map(requestItem),
  }
}

function includedIn(sections: readonly FixedSection[]): IncludedItem[] {
  return sections.flatMap(({ items = [], messages, tools = [] }) => [
    // An allocation may have cut off the last items.
    ...items.slice(0, messages.length),
    ...tools.map(({ item }) => item),
  ])
}

/** Receipt lines for the items that a context does not show, with the reason. */
export function leftOutItems(sections: readonly FixedSection[], { items }: BuildInput): ReceiptEntry[] {
  if (items === undefined) return []
  const shown = new Set(includedIn(sections).map(({ item }) => item.itemId))
  const crowdedOut = [...items.held, ...items.selected].filter(({ item }) => !shown.has(item.itemId))
  const notSelected = items.leftOut.slice(0, LEFT_OUT_NAMED_MAX)
  const more = items.leftOut.length - notSelected.length
  const line = (section: string, item: IncludedItem | null, reason: string): ReceiptEntry => ({
    section,
    mode: 'left-out',
    count: 0,
    tokens: 0,
    ...(item !== null && { item: includedItem(item) }),
    reason,
  })
  return [
    ...crowdedOut.map((one) => line(sectionOf(one), one, 'it did not fit')),
    ...notSelected.map(({ item, score, reason }) =>
      line('selected', { item, includeMode: 'agent', ...(score !== null && { score }) }, reason),
    ),
    ...(more > 0 ? [line('selected', null, `${more} more items were not selected`)] : []),
    ...(items.outsideScope > 0 ? [line('selected', null, `outside of the scope: ${items.outsideScope} items`)] : []),
  ]
}

function sectionOf({ item, includeMode }: IncludedItem): string {
  return includeMode === 'agent' ? 'selected' : `${item.type}s`
}

export function selectionOf({ items }: BuildInput): Pick<Receipt, 'selection'> {
  return items?.selection == null ? {} : { selection: items.selection }
}

export function selectionNotes({ items }: BuildInput): string[] {
  const skipped = items?.selection?.skipped
  return skipped == null ? [] : [`no items were selected: ${skipped}`]
}
