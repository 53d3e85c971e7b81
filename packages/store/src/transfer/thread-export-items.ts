import type { Tx } from '../connection/connection.js'
import { isLastPage, withinPageBytes } from './bounded-page.js'
import { selectColumns } from './export-columns.js'
import { exportTables } from './export-tables.js'

/** Items that one page reads: each may contain a document. */
const PAGE_ITEMS = 50
const PAGE_THREAD_ITEMS = 500

interface Named {
  readonly json: string
  readonly key: readonly [type: string, serverName: string, name: string, version: number]
  readonly found: number
}

export interface ItemsPage {
  /** Records as JSON objects, without their type. */
  readonly rows: readonly string[]
  /** The key after which the next page begins; null on the last page. */
  readonly after: Named['key'] | null
}

type ItemRecordType = 'toolServer' | 'item' | 'threadItem'

/**
 * A page of the items of an exported thread: the modes of its agent's servers, the agent's items in their current versions,
 * or the thread's items with all of their versions. They are ordered by name, the same way in every database.
 */
export async function exportItemPage(
  tx: Tx,
  type: ItemRecordType,
  { threadId, after }: { threadId: string; after: Named['key'] | null },
): Promise<ItemsPage> {
  const limit = type === 'threadItem' ? PAGE_THREAD_ITEMS : PAGE_ITEMS
  const [afterType, afterServer, afterName, afterVersion] = after ?? ['', '', '', 0]
  const order = tx`item.type collate "C", item.server_name collate "C", item.name collate "C", item.version`
  const page = tx`
    select row_number() over (order by ${order}) as place, row_to_json((select picked from (select ${columnsOf(tx, type)}) as picked))::text as json,
      json_build_array(item.type, item.server_name, item.name, item.version) as key
    from (${sourceOf(tx, type, threadId)}) as item
    where (item.type collate "C", item.server_name collate "C", item.name collate "C", item.version)
      > (${afterType}, ${afterServer}, ${afterName}, ${afterVersion}::integer)
    order by ${order}
    limit ${limit}`
  const rows = await tx<Named[]>`${withinPageBytes(tx, page)}`
  return { rows: rows.map(({ json }) => json), after: isLastPage(rows, limit) ? null : (rows.at(-1)?.key ?? null) }
}

function columnsOf(tx: Tx, type: ItemRecordType) {
  if (type === 'toolServer') return tx`item.server_name as name, item.include`
  const named = tx`item.type as "itemType", item.name, item.server_name as "serverName"`
  if (type === 'threadItem') return tx`${named}, ${selectColumns(tx, exportTables.threadItem, 'item')}`
  return tx`
    ${named}, item.description, item.text, item.input_schema as "inputSchema", item.include,
    item.priority_level as "priorityLevel", item.erased`
}

function sourceOf(tx: Tx, type: ItemRecordType, threadId: string) {
  const agentId = tx`(select agent_id from heddle.threads where id = ${threadId})`
  if (type === 'toolServer')
    return tx`
      select 'tool' as type, name as server_name, '' as name, 1 as version, include
      from heddle.tool_servers where agent_id = ${agentId}`
  if (type === 'threadItem')
    return tx`
      select named.type, named.server_name, named.name, held.version, held.include_mode, held.removed, held.created_at
      from heddle.thread_items as held join heddle.items as named on named.id = held.item_id
      where held.thread_id = ${threadId}`
  return tx`
    select named.type, named.server_name, named.name, 1 as version, described.description, described.text,
      described.input_schema, described.include, described.priority_level, described.erased
    from heddle.items as named
    join heddle.item_versions as described on described.item_id = named.id and described.version = named.version
    where named.agent_id = ${agentId}`
}
