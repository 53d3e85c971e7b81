import { notFound, type Scope } from '@heddle/contracts'
import type { Item } from '../items/item.js'

type Named = Pick<Item, 'type' | 'name' | 'serverName'>

/**
 * The items that a scope lets a context show.
 *
 * @throws PermanentError `NOT_FOUND` for a name that no item has
 */
export function itemsInScope<One extends Named>(items: readonly One[], scope: Scope['items']): readonly One[] {
  if (scope === undefined || scope === true) return items
  const names = new Set(scope === false ? [] : scope)
  const unknown = [...names].find((name) => !items.some((item) => namesOf(item).includes(name)))
  if (unknown !== undefined)
    throw notFound(
      'scope.items',
      unknown,
      'name items that the agent has, such as rule/tone; `heddle items list` shows them',
    )
  return items.filter((item) => namesOf(item).some((name) => names.has(name)))
}

/** A tool has two names: the one with its server is needed if other servers have a tool of that name. */
function namesOf({ type, name, serverName }: Named): string[] {
  return type === 'tool' ? [`tool/${name}`, `tool/${serverName}.${name}`] : [`${type}/${name}`]
}
