import type { AgentItem, ListItemsOptions, Page, ThreadsWithout } from '@heddle/client/interface'
import {
  checkItem,
  checkItemKey,
  type IncludeMode,
  type ItemKey,
  includeModeSchema,
  itemKeySchema,
  itemTypeSchema,
  type NewItem,
  nameSchema,
  newItemSchema,
  notFound,
  PermanentError,
  parse,
} from '@heddle/contracts'
import { effectiveInclude, itemKey, itemLabel } from '@heddle/core'
import {
  ensureProject,
  findItems,
  type ItemRow,
  listItems,
  listThreadsWithout,
  loadAgent,
  putAgent,
  putItems,
  putToolServer,
  removeItems,
  type Tx,
} from '@heddle/store'
import { z } from 'zod'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'

/**
 * Makes an item, or gives it a new version; what is left out stays as it is, and the same twice is one version. The agent is
 * made where there is none. The next context of every thread that holds the item shows the new version. Threads that began
 * before it was there do not hold it: `threadsWithout` names them, and `addToThread` adds it.
 *
 * @throws PermanentError `VALIDATION_ERROR`; ConflictError where the agent was erased
 */
export async function putItem(parts: EngineContext, agent: string, item: NewItem): Promise<AgentItem & ThreadsWithout> {
  const name = parse(nameSchema, agent, 'agent')
  const checked = parse(newItemSchema, item, 'item')
  checkItem(checked)
  return await changeItems(parts, name, async (tx, agentId) => {
    const [put] = await putItems(tx, { agentId, items: [checked] })
    if (put === undefined) throw new Error('the item is not there after it was put')
    return { ...toAgentItem(put.item), ...(await threadsWithout(tx, agentId, [put.item])) }
  })
}

/** Which threads do not hold those of some items that come with each thread that starts. */
export async function threadsWithout(tx: Tx, agentId: string, items: readonly ItemRow[]): Promise<ThreadsWithout> {
  const itemIds = items.filter((item) => effectiveInclude(item) === 'always').map(({ itemId }) => itemId)
  return { threadsWithout: await listThreadsWithout(tx, { agentId, itemIds }) }
}

/** Changes the items of an agent, which is held meanwhile, and made where there is none. */
export async function changeItems<T>(
  { store, project, projectId }: EngineContext,
  agent: string,
  change: (tx: Tx, agentId: string) => Promise<T>,
): Promise<T> {
  return await store.inProject(projectId, async (tx) => {
    await ensureProject(tx, { projectId, name: project })
    const { agentId } = await putAgent(tx, { projectId, name: agent })
    return await change(tx, agentId)
  })
}

/**
 * @param key of a tool with or without its server, as long as one server alone has a tool of the name
 * @param options `version`: an older one, also of an item that was taken away
 * @throws PermanentError `NOT_FOUND`; `AMBIGUOUS_REFERENCE` where several servers have the tool
 */
export async function getItem(
  { store, projectId }: EngineContext,
  agent: string,
  key: ItemKey,
  { version }: { version?: number } = {},
): Promise<AgentItem> {
  const wanted = readKey(key)
  if (version !== undefined) parse(z.int().min(1), version, 'version')
  return toAgentItem(await store.inProject(projectId, (tx) => findItem(tx, agent, { ...wanted, version })))
}

/** An item's id. */
const PLACE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A page of an agent's items, by type, server and name. @throws PermanentError `NOT_FOUND` */
export async function listAgentItems(
  { store, projectId }: EngineContext,
  agent: string,
  { type, serverName, limit = 100, ...page }: ListItemsOptions = {},
): Promise<Page<AgentItem>> {
  checkPageLimit(limit)
  if (type !== undefined) parse(itemTypeSchema, type, 'type')
  return await store.inProject(projectId, async (tx) => {
    const { agentId } = await loadAgentOr(tx, agent)
    const list: CursorList = { kind: 'items', ownerId: agentId }
    const [afterId] = placeAt(list, page, PLACE) ?? []
    const { items, hasMore } = await listItems(tx, { agentId, type, serverName, limit, afterId })
    const last = hasMore ? items.at(-1) : undefined
    return { items: items.map(toAgentItem), nextCursor: last === undefined ? null : cursorOf(list, last.itemId) }
  })
}

/**
 * Takes an item away. The next context does not show it; receipts of older ones name its versions, which stay readable.
 *
 * @throws PermanentError `NOT_FOUND`, `AMBIGUOUS_REFERENCE`
 */
export async function removeItem(parts: EngineContext, agent: string, key: ItemKey): Promise<AgentItem> {
  const wanted = readKey(key)
  return await parts.store.inProject(parts.projectId, async (tx) => {
    const { agentId } = await loadAgentOr(tx, agent)
    // Held, so that changes of one agent's items come one after another.
    await putAgent(tx, { projectId: parts.projectId, name: agent })
    const item = await findItem(tx, agent, wanted)
    await removeItems(tx, { agentId, itemIds: [item.itemId] })
    return toAgentItem(item)
  })
}

/** Says which mode the tools of an MCP server have that have none of their own. */
export async function setToolServer(
  parts: EngineContext,
  agent: string,
  server: string,
  { include }: { include: IncludeMode },
): Promise<{ readonly serverName: string; readonly include: IncludeMode }> {
  const serverName = parse(nameSchema, server, 'server')
  const mode = parse(includeModeSchema, include, 'include')
  const name = parse(nameSchema, agent, 'agent')
  await changeItems(parts, name, (tx, agentId) => putToolServer(tx, { agentId, name: serverName, include: mode }))
  return { serverName, include: mode }
}

/** A key that may leave out the server of a tool. */
export function readKey(key: ItemKey): ItemKey {
  const wanted = parse(itemKeySchema, key, 'item')
  if (wanted.type !== 'tool') checkItemKey(wanted)
  return wanted
}

/** @throws PermanentError `NOT_FOUND`, `AMBIGUOUS_REFERENCE` */
export async function findItem(
  tx: Tx,
  agent: string,
  key: ItemKey & { version?: number | undefined },
): Promise<ItemRow> {
  const { agentId } = await loadAgentOr(tx, agent)
  const found = await findItems(tx, { agentId, ...key })
  const [item] = found
  if (item === undefined) throw notFound(key.type, key.name, `see \`heddle items list --agent "${agent}"\``)
  if (found.length === 1) return item
  throw new PermanentError('AMBIGUOUS_REFERENCE', `several servers have a tool "${key.name}"`, {
    field: 'serverName',
    received: 'nothing',
    hint: 'name the server of the tool',
    facts: { candidates: found.map(itemLabel) },
  })
}

export async function loadAgentOr(tx: Tx, agent: string): Promise<{ agentId: string }> {
  const found = await loadAgent(tx, { name: parse(nameSchema, agent, 'agent') })
  if (!found) throw notFound('agent', agent, 'see `heddle agents list`')
  return found
}

export function toAgentItem(row: ItemRow): AgentItem {
  const { itemId, version, description, text, inputSchema, include, priorityLevel, erased, createdAtMs } = row
  return {
    ...itemKey(row),
    itemId,
    version,
    description,
    text,
    inputSchema,
    include,
    includeMode: effectiveInclude(row),
    priorityLevel,
    erased,
    updatedAt: isoTime(createdAtMs),
  }
}
