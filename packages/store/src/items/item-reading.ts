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
  /** What the server of a tool says; null where it says nothing. */
  readonly serverInclude: Rows['toolServers']['include'] | null
}

/** All items that an agent has, in the versions in force, with what they say. */
export async function loadAgentItems(tx: Tx, { agentId }: { agentId: string }): Promise<ItemRow[]> {
  return await tx<ItemRow[]>`
    ${selectItems(tx)}
    where item.agent_id = ${agentId} and not described.erased
    limit ${limits.itemsPerAgentMax}`
}

/** All items that an agent has or had, in their latest versions. */
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
  /** Left out for a tool: of whichever server. */
  readonly serverName?: string | undefined
  /** Default the version in force; an older one also of an item that was taken away. */
  readonly version?: number | undefined
}

/** The items of a name: one at most, or one of each server. */
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
  /** The id of the item with which the page before ended. */
  readonly afterId?: string | undefined
}

/** Bytes of one page of items; a page has at least one. */
const PAGE_BYTES_MAX = 8_000_000

/** A page of an agent's items, by type, server and name; it ends early where they are large. */
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

/** Items in the versions in force, or in a given one; conditions come after it. */
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
