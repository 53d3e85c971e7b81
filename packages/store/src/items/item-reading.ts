import { type ItemType, limits } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import type { Columns, Rows } from '../schema/rows.js'

/** An item of an agent in one version. */
export interface ItemRow
  extends Columns<'items', 'type' | 'name' | 'serverName'>,
    Columns<
      'itemVersions',
      | 'itemId'
      | 'version'
      | 'description'
      | 'text'
      | 'inputSchema'
      | 'include'
      | 'priorityLevel'
      | 'erased'
      | 'createdAtMs'
    > {
  /** The mode set for the server of a tool; null if it is not set. */
  readonly serverInclude: Rows['toolServers']['include'] | null
}

/** All current items of an agent, in their current versions, with their content. */
export async function loadAgentItems(tx: Tx, { agentId }: { agentId: string }): Promise<ItemRow[]> {
  return await tx<ItemRow[]>`
    ${selectItems(tx)}
    where item.agent_id = ${agentId} and not described.erased
    limit ${limits.itemsPerAgentMax}`
}

/** All items of an agent, including removed ones, in their latest versions. */
export async function listAllItems(tx: Tx, { agentId }: { agentId: string }): Promise<ItemRow[]> {
  return await tx<ItemRow[]>`
    ${selectItems(tx)}
    where item.agent_id = ${agentId}
    order by item.type, item.server_name, item.name
    limit ${limits.itemsPerAgentMax}`
}

export interface ItemQuery {
  readonly agentId: string
  readonly type: ItemType
  readonly name: string
  /** Omitted for a tool: of any server. */
  readonly serverName?: string | undefined
  /** Default the current version; an older one also of a removed item. */
  readonly version?: number | undefined
}

/** The items with a name: at most one, or one per server. */
export async function findItems(tx: Tx, { agentId, type, name, serverName, version }: ItemQuery): Promise<ItemRow[]> {
  const rows = await tx<ItemRow[]>`
    ${selectItems(tx, version)}
    where item.agent_id = ${agentId} and item.type = ${type} and item.name = ${name}
      and ${type === 'tool' && serverName === undefined ? tx`true` : tx`item.server_name = ${serverName ?? ''}`}
    order by item.server_name
    limit 20`
  return version === undefined ? rows.filter(({ erased }) => !erased) : rows
}

export interface ItemListing {
  readonly agentId: string
  readonly type?: ItemType | undefined
  readonly serverName?: string | undefined
  readonly limit: number
  /** The id of the last item of the previous page. */
  readonly afterId?: string | undefined
}

/** Bytes of one page of items; a page has at least one. */
const PAGE_BYTES_MAX = 8_000_000

/** A page of an agent's items, by type, server and name; a page of large items ends early. */
export async function listItems(
  tx: Tx,
  { agentId, type, serverName, limit, afterId }: ItemListing,
): Promise<{ items: ItemRow[]; hasMore: boolean }> {
  const items = await tx<(ItemRow & { found: number })[]>`
    select * from (
      select *, count(*) over () as found, row_number() over in_order as place,
        sum(${bytesOf(tx)}) over in_order - ${bytesOf(tx)} as bytes_before
      from (
        ${selectItems(tx)}
        where item.agent_id = ${agentId} and not described.erased
          and ${type === undefined ? tx`true` : tx`item.type = ${type}`}
          and ${serverName === undefined ? tx`true` : tx`item.server_name = ${serverName}`}
          and ${
            afterId === undefined
              ? tx`true`
              : tx`(item.type, item.server_name, item.name) > (
                  select type, server_name, name from heddle.items where id = ${afterId})`
          }
        order by item.type, item.server_name, item.name
        limit ${limit + 1}
      ) as listed
      window in_order as (order by type, server_name, name rows unbounded preceding)
    ) as sized
    where place <= ${limit} and bytes_before < ${PAGE_BYTES_MAX}
    order by place`
  return { items, hasMore: items.length < (items[0]?.found ?? 0) }
}

function bytesOf(tx: Tx) {
  return tx`(
    octet_length(text) + coalesce(octet_length(description), 0) + coalesce(octet_length(input_schema::text), 0))`
}

/** Selects items in their current versions, or in a given one; the caller appends conditions. */
export function selectItems(tx: Tx, version?: number) {
  return tx`
    select
      item.id as item_id, described.version, item.type, item.name, item.server_name, described.description,
      described.text, described.input_schema, described.include, server.include as server_include,
      described.priority_level, described.erased, described.created_at as created_at_ms
    from heddle.items as item
    join heddle.item_versions as described
      on described.item_id = item.id
      and described.version = ${version === undefined ? tx`item.version` : tx`${version}`}
    left join heddle.tool_servers as server
      on item.type = 'tool' and server.agent_id = item.agent_id and server.name = item.server_name`
}
