import { createHash } from 'node:crypto'
import type { Item } from './item.js'

/** Limits on tool names that every provider accepts. */
const NAME_CHARACTERS_MAX = 64
const OTHER_CHARACTERS = /[^\w-]/g
const SUFFIX_CHARACTERS = 8

/**
 * The names under which an agent's tools are called: a tool's own name, or `server__name` if two servers share it.
 * Providers accept up to 64 letters, digits, `_` and `-`; a shortened or altered name gets a part of a hash to stay
 * unique. Names depend on all tools of the agent, sent or not, so that a tool keeps its name from request to request.
 *
 * @returns by item id
 */
export function toolNames(items: readonly Item[]): Map<string, string> {
  const tools = items.filter(({ type }) => type === 'tool')
  const shared = repeated(tools.map(({ name }) => plain(name)))
  const wanted = tools.map((tool) => ({
    itemId: tool.itemId,
    name: shared.has(plain(tool.name)) ? plain(`${tool.serverName}__${tool.name}`) : plain(tool.name),
  }))
  const stillShared = repeated(wanted.map(({ name }) => name))
  return new Map(
    wanted.map(({ itemId, name }) => [
      itemId,
      stillShared.has(name) || name.length > NAME_CHARACTERS_MAX ? withSuffix(name, itemId) : name,
    ]),
  )
}

/**
 * All names under which the tools of one context may have been called; the actual one depends on the tools that the
 * agent had then. If two tools of the context share a name, it counts only with its server.
 *
 * @returns by item id
 */
export function callNames(
  tools: readonly Pick<Item, 'itemId' | 'name' | 'serverName'>[],
): Map<string, readonly string[]> {
  const shared = repeated(tools.map(({ name }) => plain(name)))
  return new Map(
    tools.map(({ itemId, name, serverName }) => {
      const own = plain(name)
      const full = plain(`${serverName}__${name}`)
      return [itemId, [full, withSuffix(full, itemId), withSuffix(own, itemId), ...(shared.has(own) ? [] : [own])]]
    }),
  )
}

function plain(name: string): string {
  return name.replace(OTHER_CHARACTERS, '_')
}

function withSuffix(name: string, itemId: string): string {
  const suffix = createHash('sha256').update(itemId).digest('hex').slice(0, SUFFIX_CHARACTERS)
  return `${name.slice(0, NAME_CHARACTERS_MAX - SUFFIX_CHARACTERS - 1)}_${suffix}`
}

function repeated(names: readonly string[]): Set<string> {
  const seen = new Set<string>()
  return new Set(names.filter((name) => seen.size === seen.add(name).size))
}
