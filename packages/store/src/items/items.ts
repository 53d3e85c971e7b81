import { createHash } from 'node:crypto'
import type { IncludeMode, ItemKey, JsonObject } from '@heddle/contracts'
import { limits, validationError } from '@heddle/contracts'
import { canonicalJson, itemIdOf } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { asArray } from '../sql/arrays.js'
import { assertStorable } from '../sql/text.js'
import { type ItemRow, selectItems } from './item-reading.js'

export interface ItemChange extends ItemKey {
  /** Omitted fields stay unchanged. */
  readonly description?: string | null | undefined
  readonly text?: string | undefined
  readonly inputSchema?: JsonObject | null | undefined
  readonly include?: IncludeMode | null | undefined
  readonly priorityLevel?: number | null | undefined
}

/** The content of a new item before its first version, and of a removed item. */
const NOTHING = { description: null, text: '', inputSchema: null, include: null, priorityLevel: null }

export interface PutItem {
  readonly item: ItemRow
  /** The previous version; null for a new or a removed item. */
  readonly versionBefore: number | null
}

/**
 * Creates items or new versions of them. An unchanged item gets no new version, so repeating a call is harmless. The caller
 * locks the agent's row, so that changes of one agent's items run one after another: see `putAgent`.
 *
 * @throws PermanentError `VALIDATION_ERROR` if the agent would have too many
 */
export async function putItems(
  tx: Tx,
  { agentId, items }: { agentId: string; items: readonly ItemChange[] },
): Promise<PutItem[]> {
  for (const item of items) for (const field of ['description', 'text'] as const) assertStorable(field, item[field])
  const ids = items.map((item) => itemIdOf(agentId, item))
  const before = new Map((await loadLatest(tx, { agentId, itemIds: ids })).map((row) => [row.itemId, row]))
  const rows: VersionRow[] = []
  for (const [index, change] of items.entries()) {
    const itemId = ids[index] ?? ''
    const known = before.get(itemId)
    const base = known === undefined || known.erased ? NOTHING : known
    const after = {
      description: change.description === undefined ? base.description : change.description,
      text: change.text ?? base.text,
      inputSchema: change.inputSchema === undefined ? base.inputSchema : change.inputSchema,
      include: change.include === undefined ? base.include : change.include,
      priorityLevel: change.priorityLevel === undefined ? base.priorityLevel : change.priorityLevel,
    }
    if (known !== undefined && !known.erased && hashOf(known) === hashOf(after)) continue
    const { type, name, serverName = '' } = change
    rows.push({ itemId, type, name, serverName, version: (known?.version ?? 0) + 1, ...after, erased: false })
  }
  await insertVersions(tx, agentId, rows)
  await checkCount(tx, agentId, before.size, ids.length)
  const after = new Map((await loadLatest(tx, { agentId, itemIds: ids })).map((row) => [row.itemId, row]))
  return ids.flatMap((itemId) => {
    const item = after.get(itemId)
    const known = before.get(itemId)
    return item === undefined
      ? []
      : [{ item, versionBefore: known === undefined || known.erased ? null : known.version }]
  })
}

/**
 * Removes items: each gets a last version that marks the removal. Contexts no longer show them; earlier versions, which
 * receipts name, are kept; vectors are deleted.
 *
 * @returns the removed items
 */
export async function removeItems(
  tx: Tx,
  { agentId, itemIds }: { agentId: string; itemIds: readonly string[] },
): Promise<ItemRow[]> {
  const there = (await loadLatest(tx, { agentId, itemIds })).filter(({ erased }) => !erased)
  const rows = there.map((row) => ({ ...row, ...NOTHING, version: row.version + 1, erased: true }))
  await insertVersions(tx, agentId, rows)
  await tx`delete from heddle.item_vectors where item_id = any(${asArray(there.map(({ itemId }) => itemId))}::uuid[])`
  return there
}

type VersionRow = Pick<
  ItemRow,
  'itemId' | 'type' | 'name' | 'serverName' | 'version' | 'description' | 'text' | 'inputSchema' | 'include' | 'erased'
> & { readonly priorityLevel: number | null }

/** @param rows at most one per item */
export async function insertVersions(tx: Tx, agentId: string, rows: readonly VersionRow[]): Promise<void> {
  if (rows.length === 0) return
  const given = JSON.stringify(rows.map((row) => ({ ...row, contentHash: hashOf(row) })))
  await tx`
    insert into heddle.items (id, agent_id, type, name, server_name, version)
    select "itemId", ${agentId}, type, name, "serverName", version
    from json_to_recordset(${given}::text::json) as given (
      "itemId" uuid, type text, name text, "serverName" text, version integer)
    order by "itemId"
    on conflict (id) do update set version = excluded.version`
  await tx`
    insert into heddle.item_versions (
      item_id, version, description, text, input_schema, include, priority_level, content_hash, erased)
    select
      "itemId", version, description, text, "inputSchema", include, "priorityLevel", decode("contentHash", 'hex'), erased
    from json_to_recordset(${given}::text::json) as given (
      "itemId" uuid, version integer, description text, text text, "inputSchema" json, include text,
      "priorityLevel" integer, "contentHash" text, erased boolean)`
}

function hashOf({ description, text, inputSchema, include, priorityLevel }: Omit<ItemChange, keyof ItemKey>): string {
  const content = canonicalJson({ description, text, inputSchema, include, priorityLevel })
  return createHash('sha256').update(content).digest('hex').slice(0, 32)
}

export async function checkCount(tx: Tx, agentId: string, knownCount: number, givenCount: number): Promise<void> {
  // Nothing was added: an agent at its limit may still change existing items.
  if (knownCount === givenCount) return
  const [row] = await tx<{ count: number }[]>`select count(*) from heddle.items where agent_id = ${agentId}`
  if ((row?.count ?? 0) <= limits.itemsPerAgentMax) return
  const rule = `an agent may have at most ${limits.itemsPerAgentMax}, including removed ones`
  throw validationError('items', rule, row?.count)
}

/** Some of an agent's items in their latest versions, including removed ones. */
async function loadLatest(
  tx: Tx,
  { agentId, itemIds }: { agentId: string; itemIds: readonly string[] },
): Promise<ItemRow[]> {
  if (itemIds.length === 0) return []
  return await tx<ItemRow[]>`
    ${selectItems(tx)}
    where item.agent_id = ${agentId} and item.id in ${tx([...itemIds])}`
}

/** Sets the mode of a server's tools without their own mode; null removes it. */
export async function putToolServer(
  tx: Tx,
  { agentId, name, include }: { agentId: string; name: string; include: IncludeMode },
): Promise<void> {
  await tx`
    insert into heddle.tool_servers (agent_id, name, include) values (${agentId}, ${name}, ${include})
    on conflict (agent_id, name) do update set include = excluded.include`
}
