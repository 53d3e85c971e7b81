import { checkItem, type ExportRecordOf } from '@heddle/contracts'
import { itemIdOf } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { checkCount, insertVersions } from '../items/items.js'
import { checkThreadItems } from '../items/thread-items.js'
import { asArray } from '../sql/arrays.js'
import { assertStorable } from '../sql/text.js'
import { insertColumns } from './export-columns.js'
import { exportTables } from './export-tables.js'

interface ImportItems<Type extends 'toolServer' | 'item' | 'threadItem'> {
  readonly threadId: string
  readonly records: readonly ExportRecordOf<Type>[]
}

/** Adds the modes of servers for which the agent has no mode yet. */
export async function importToolServers(tx: Tx, { threadId, records }: ImportItems<'toolServer'>): Promise<number> {
  const { count } = await tx`
    insert into heddle.tool_servers (agent_id, name, include)
    select thread.agent_id, given.name, given.include
    from heddle.threads as thread,
      json_to_recordset(${JSON.stringify(records)}::text::json) as given (name text, include text)
    where thread.id = ${threadId}
    on conflict do nothing`
  return count
}

/**
 * Adds the items whose names the thread's agent never had. Its own items stay unchanged, and removed ones stay removed.
 *
 * @throws PermanentError `VALIDATION_ERROR` if a record is not an item, or the agent would have too many
 */
export async function importItems(tx: Tx, { threadId, records }: ImportItems<'item'>): Promise<number> {
  const agentId = await lockAgentOf(tx, threadId)
  const rows = records.map(({ itemType: type, type: _, serverName, ...rest }) => {
    checkItem({ ...rest, type, ...(serverName !== '' && { serverName }) })
    for (const field of ['name', 'description', 'text'] as const) assertStorable(field, rest[field])
    return { ...rest, type, serverName, version: 1, itemId: idOf(agentId, { itemType: type, serverName, ...rest }) }
  })
  const known = await tx<{ id: string }[]>`
    select id from heddle.items where id = any(${asArray(rows.map(({ itemId }) => itemId))}::uuid[])`
  const knownIds = new Set(known.map(({ id }) => id))
  const fresh = rows.filter(({ itemId }) => !knownIds.has(itemId))
  await insertVersions(tx, agentId, fresh)
  await checkCount(tx, agentId, knownIds.size, rows.length)
  return fresh.length
}

/** Adds the thread's items with their history of additions and removals. */
export async function importThreadItems(tx: Tx, { threadId, records }: ImportItems<'threadItem'>): Promise<number> {
  const agentId = await lockAgentOf(tx, threadId)
  const given = records.map((record) => ({ ...record, itemId: idOf(agentId, record) }))
  const { count } = await tx`
    insert into heddle.thread_items (thread_id, item_id, ${insertColumns(tx, exportTables.threadItem)})
    select ${threadId}, "itemId", version, "includeMode", removed, "createdAt"
    from json_to_recordset(${JSON.stringify(given)}::text::json) as given (
      "itemId" uuid, version integer, "includeMode" text, removed boolean, "createdAt" timestamptz)
    on conflict do nothing`
  await checkThreadItems(tx, threadId)
  return count
}

async function lockAgentOf(tx: Tx, threadId: string): Promise<string> {
  const [agent] = await tx<{ id: string }[]>`
    select id from heddle.agents
    where id = (select agent_id from heddle.threads where id = ${threadId})
    for no key update`
  return agent?.id ?? ''
}

type NamedRecord = Pick<ExportRecordOf<'item'>, 'itemType' | 'name' | 'serverName'>

function idOf(agentId: string, { itemType, name, serverName }: NamedRecord): string {
  return itemIdOf(agentId, { type: itemType, name, ...(serverName !== '' && { serverName }) })
}
