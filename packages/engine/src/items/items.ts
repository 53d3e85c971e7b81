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
 * Creates an item, or a new version of it; omitted fields stay unchanged, and an unchanged item gets no new version. A missing
 * agent is created. The next context of every thread with the item shows the new version. Threads that began before the item
 * existed do not have it: `threadsWithout` names them, and `addToThread` adds it.
 *
 * @throws PermanentError `VALIDATION_ERROR`; ConflictError if the agent was erased
 */
export async function putItem(parts: EngineContext, agent: string, item: NewItem): Promise<AgentItem & ThreadsWithout> {
  const name = parse(nameSchema, agent, 'agent')
  const checked = parse(newItemSchema, item, 'item')
  checkItem(checked)
  return await changeItems(parts, name, async (tx, agentId) => {
    const [put] = await putItems(tx, { agentId, items: [checked] })
    if (put === undefined) throw new Error('the item is missing after it was stored')
    return { ...toAgentItem(put.item), ...(await threadsWithout(tx, agentId, [put.item])) }
  })
}

/** The threads that lack some of the items that new threads get by default. */
export async function threadsWithout(tx: Tx, agentId: string, items: readonly ItemRow[]): Promise<ThreadsWithout> {
  const itemIds = items.filter((item) => effectiveInclude(item) === 'always').map(({ itemId }) => itemId)
  return { threadsWithout: await listThreadsWithout(tx, { agentId, itemIds }) }
}

/** Changes the items of an agent under a lock; a missing agent is created. */
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
 * @param key for a tool the server may be omitted if only one server has a tool with that name
 * @param options `version`: an older one, also of a removed item
 * @throws PermanentError `NOT_FOUND`; `AMBIGUOUS_REFERENCE` if several servers have the tool
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

/** The position in a list is an item's id. */
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
 * Removes an item. Later contexts do not show it; receipts of older ones name its versions, which stay readable.
 *
 * @throws PermanentError `NOT_FOUND`, `AMBIGUOUS_REFERENCE`
 */
export async function removeItem(parts: EngineContext, agent: string, key: ItemKey): Promise<AgentItem> {
  const wanted = readKey(key)
  return await parts.store.inProject(parts.projectId, async (tx) => {
    const { agentId } = await loadAgentOr(tx, agent)
    // Locks the agent, so that changes of its items run one after another.
    await putAgent(tx, { projectId: parts.projectId, name: agent })
    const item = await findItem(tx, agent, wanted)
    await removeItems(tx, { agentId, itemIds: [item.itemId] })
    return toAgentItem(item)
  })
}

/** Sets the mode of an MCP server's tools without a mode of their own. */
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

/** Parses a key, which may omit the server of a tool. */
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
    hint: 'give the server of the tool',
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
