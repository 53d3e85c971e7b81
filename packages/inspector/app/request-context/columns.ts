import type { AgentItem, ContextResult } from '@heddle/contracts'

type RequestItem = ContextResult['items'][number]
export type ItemType = RequestItem['type']

export interface ShownItem extends RequestItem {
  /** Absent until the details are loaded, and if the item was removed since. */
  readonly details?: Pick<AgentItem, 'description' | 'priorityLevel'> | undefined
}

const keyOf = ({ type, serverName = '', name }: Pick<RequestItem, 'type' | 'name' | 'serverName'>) =>
  JSON.stringify([type, serverName, name])

/**
 * The items of a request by type. Rules and references by priority and then name, those without a priority last; tools by server
 * and then name.
 */
export function columnsOf(
  items: readonly RequestItem[],
  details: readonly AgentItem[],
): Readonly<Record<ItemType, readonly ShownItem[]>> {
  const known = new Map(details.map((item) => [keyOf(item), item]))
  const shown = items.map((item): ShownItem => ({ ...item, details: known.get(keyOf(item)) }))
  const ofType = (type: ItemType) =>
    shown.filter((item) => item.type === type).sort(type === 'tool' ? byServer : byPriority)
  return { rule: ofType('rule'), reference: ofType('reference'), tool: ofType('tool') }
}

const levelOf = ({ details }: ShownItem) => details?.priorityLevel ?? Number.POSITIVE_INFINITY
const byName = (left: ShownItem, right: ShownItem) => left.name.localeCompare(right.name)

function byPriority(left: ShownItem, right: ShownItem): number {
  const [first, second] = [levelOf(left), levelOf(right)]
  return first === second ? byName(left, right) : first - second
}

function byServer(left: ShownItem, right: ShownItem): number {
  return (left.serverName ?? '').localeCompare(right.serverName ?? '') || byName(left, right)
}

/** `Agent - 0.87` */
export function badgeOf({ includeMode, similarityScore }: RequestItem): string {
  const mode = `${includeMode.slice(0, 1).toUpperCase()}${includeMode.slice(1)}`
  return similarityScore === undefined ? mode : `${mode} - ${similarityScore.toFixed(2)}`
}
