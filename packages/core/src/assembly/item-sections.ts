import type { Settings } from '@heddle/contracts'
import { limitTokens } from '../compaction/lane.js'
import { countNeutralMessage } from '../formats/index.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import type { FullItem, IncludedItem } from '../items/index.js'
import type { BuildInput } from './input.js'
import type { FixedSection } from './section.js'
import { type PlacedTool, placeTool } from './tools.js'

/** Share of the limit for selected items when there is no allocation. */
const SELECTED_SHARE = 0.25

type FullIncluded = IncludedItem<FullItem>

export interface ItemSections {
  /** Items that belong to the thread: the user asked for them, so they are never left out. */
  readonly held: readonly FixedSection[]
  /** Items selected for the request: at most one section. */
  readonly selected: readonly FixedSection[]
}

export function itemSections(input: BuildInput): ItemSections {
  const { items } = input
  if (items === undefined) return { held: [], selected: [] }
  const rules = items.held.filter(({ item }) => item.type === 'rule')
  const references = items.held.filter(({ item }) => item.type === 'reference')
  const tools = items.held
    .filter(({ item }) => item.type === 'tool')
    .map((tool) => placeTool(tool, items.toolNames, input))
  const held: FixedSection[] = [
    { name: 'rules', messages: rules.map(toMessage), items: rules, reason: 'rules of the thread' },
    { name: 'references', messages: references.map(toMessage), items: references, reason: 'references of the thread' },
    { name: 'tools', messages: [], tools, reason: 'tools of the thread' },
  ]
  const selected = selectedSection(input)
  return {
    held: held.filter(({ messages, tools: own = [] }) => messages.length + own.length > 0),
    selected: selected === null ? [] : [selected],
  }
}

/** Tokens for the items that are selected for a request. */
export function selectedRoomTokens(settings: Settings): number {
  return settings.sections.allocations.selected ?? Math.floor(limitTokens(settings) * SELECTED_SHARE)
}

/**
 * The selected items that fit, the best first. An item that is too long is skipped, not cut in favor of lesser ones.
 */
function selectedSection(input: BuildInput): FixedSection | null {
  const { items, settings, format, count } = input
  if (items === undefined || items.selected.length === 0) return null
  const messages: NeutralMessage[] = []
  const shown: FullIncluded[] = []
  const tools: PlacedTool[] = []
  let left = selectedRoomTokens(settings)
  for (const included of items.selected) {
    if (included.item.type === 'tool') {
      const tool = placeTool(included, items.toolNames, input)
      if (tool.tokens > left) continue
      left -= tool.tokens
      tools.push(tool)
    } else {
      const message = toMessage(included)
      const tokens = countNeutralMessage(format, message, count)
      if (tokens > left) continue
      left -= tokens
      messages.push(message)
      shown.push(included)
    }
  }
  if (messages.length + tools.length === 0) return null
  return { name: 'selected', messages, items: shown, tools, reason: 'selected by meaning', isOptional: true }
}

/** Each kind has its own introduction (docs/items.md#what-a-context-says). An item without a text says its description. */
function toMessage({ item: { type, name, description, text } }: FullIncluded): NeutralMessage {
  const said = [text, description ?? ''].find((each) => each.trim() !== '') ?? name
  return { role: 'user', content: `${type === 'rule' ? 'Rule' : 'Reference'}: ${said}` }
}
