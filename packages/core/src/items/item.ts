import type { IncludeMode, ItemKey, ItemType } from '@heddle/contracts'

/** An item of an agent in its version in force, without what it says. */
export interface Item {
  readonly itemId: string
  readonly version: number
  readonly type: ItemType
  readonly name: string
  /** The MCP server of a tool; empty for others. */
  readonly serverName: string
  readonly description: string | null
  /** What the item itself says; null leaves it to the server of a tool. */
  readonly include: IncludeMode | null
  /** What the server of a tool says; null where it says nothing. */
  readonly serverInclude: IncludeMode | null
  readonly priorityLevel: number | null
}

/** How an item is named: a rule by its name, a tool by its server's and its own. */
export function itemLabel({ type, name, serverName }: ItemKey): string {
  return type === 'tool' ? `${type} ${serverName ?? ''}.${name}` : `${type} ${name}`
}

/** The mode in force (docs/items.md): what the item says, else for a tool what its server says, else `always`. */
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
 * The order in which items are shown and sent (docs/items.md): rules and references by their priority level, those without one
 * last, then by name; tools by server and name. It depends on the items alone, so a provider's prompt cache keeps them.
 */
export function compareItems(left: Ordered, right: Ordered): number {
  return (
    typePlaces[left.type] - typePlaces[right.type] ||
    (left.priorityLevel ?? Number.MAX_SAFE_INTEGER) - (right.priorityLevel ?? Number.MAX_SAFE_INTEGER) ||
    compareTexts(left.serverName, right.serverName) ||
    compareTexts(left.name, right.name)
  )
}

/** By code units: the same on every machine, whatever its language. */
function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
