import type { IncludeMode, ItemKey, ItemType } from '@heddle/contracts'

/** An item of an agent in its current version, without its text. */
export interface Item {
  readonly itemId: string
  readonly version: number
  readonly type: ItemType
  readonly name: string
  /** The MCP server of a tool; empty for other types. */
  readonly serverName: string
  readonly description: string | null
  /** The item's own mode; null to use that of its server. */
  readonly include: IncludeMode | null
  /** The mode of a tool's server, or null. */
  readonly serverInclude: IncludeMode | null
  readonly priorityLevel: number | null
}

/** Display name of an item: its name, for a tool with its server. */
export function itemLabel({ type, name, serverName }: ItemKey): string {
  return type === 'tool' ? `${type} ${serverName ?? ''}.${name}` : `${type} ${name}`
}

/** The effective mode (docs/items.md): the item's, else for a tool its server's, else `always`. */
export function effectiveInclude({
  type,
  include,
  serverInclude,
}: Pick<Item, 'type' | 'include' | 'serverInclude'>): IncludeMode {
  return include ?? (type === 'tool' ? serverInclude : null) ?? 'always'
}

const typePlaces: Readonly<Record<ItemType, number>> = { rule: 0, reference: 1, tool: 2 }

type Ordered = Pick<Item, 'type' | 'name' | 'serverName' | 'priorityLevel'>

/**
 * The order in which items are shown and sent (docs/items.md): rules and references by priority level, those without
 * one last, then by name; tools by server and name. It depends only on the items, so a provider's prompt cache can
 * reuse them.
 */
export function compareItems(left: Ordered, right: Ordered): number {
  return (
    typePlaces[left.type] - typePlaces[right.type] ||
    (left.priorityLevel ?? Number.MAX_SAFE_INTEGER) - (right.priorityLevel ?? Number.MAX_SAFE_INTEGER) ||
    compareTexts(left.serverName, right.serverName) ||
    compareTexts(left.name, right.name)
  )
}

/** By code units: the same on every machine and in every locale. */
function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
