import type { Tx } from '../connection/connection.js'
import { loadSharedRuns, someMessagesOf } from '../forks/lineage.js'
import { countedTokens } from '../messages/token-counts.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { isLastPage, withinPageBytes } from './bounded-page.js'
import { orderColumns, selectColumns } from './export-columns.js'
import { type ExportTable, type ExportTableName, exportTables } from './export-tables.js'

/** Rows that one page of an export reads. Contents are read one by one. */
const PAGE_ROWS = 200

export interface ExportHeader {
  /** The first record of the file, as a JSON object without its type. */
  readonly json: string
  /** Messages after this one were stored after the export began and are not part of it. */
  readonly headSeq: number
}

/** @returns null if there is no such thread */
export async function exportHeader(tx: Tx, { threadId }: { threadId: string }): Promise<ExportHeader | null> {
  const [header] = await tx<ExportHeader[]>`
    select cursor.head_seq, json_build_object(
      'thread', json_build_object(
        'name', thread.name, 'createdAt', thread.created_at, 'activeAt', thread.active_at, 'headSeq', cursor.head_seq,
        'pruneSeq', cursor.prune_seq, 'summarizeSeq', cursor.summarize_seq),
      'agent', json_build_object(
        'name', agent.name, 'systemPrompt', configured.system_prompt, 'docs', configured.docs,
        'settings', configured.settings, 'clearEpoch', agent.clear_epoch, 'lastClearedAt', agent.last_cleared_at,
        'clears', (
          select coalesce(json_agg(
            json_build_object('epoch', cleared.epoch, 'clearedAt', cleared.cleared_at, 'createdAt', cleared.created_at)
            order by cleared.epoch), '[]'::json)
          from heddle.agent_clears as cleared where cleared.agent_id = agent.id)))::text as json
    from heddle.threads as thread
    join heddle.stage_cursors as cursor on cursor.thread_id = thread.id
    join heddle.agents as agent on agent.id = thread.agent_id
    join heddle.agent_versions as configured
      on configured.agent_id = agent.id and configured.version = agent.version
    where thread.id = ${threadId}`
  return header ?? null
}

export interface ExportPage {
  /** Rows as JSON objects. */
  readonly rows: readonly string[]
  /** The key after which the next page begins; null on the last page. */
  readonly after: readonly string[] | null
}

interface PageQuery {
  readonly threadId: string
  readonly after: readonly string[] | null
}

/** A page of one table's rows, ordered by its key. */
export async function exportPage(
  tx: Tx,
  name: Exclude<ExportTableName, 'message' | 'state' | 'pruning' | 'threadItem'>,
  { threadId, after }: PageQuery,
): Promise<ExportPage> {
  const definition: ExportTable = exportTables[name]
  const { table, key, columns } = definition
  const keys = orderColumns(tx, definition, 'one')
  const isAfter =
    after === null
      ? tx`true`
      : tx`(${keys}) > (${castKey(
          tx,
          after,
          key.map((column) => columns[column] ?? 'text'),
        )})`
  const page = tx`
    select row_number() over (order by ${keys}) as place,
      row_to_json((select picked from (select ${selectColumns(tx, definition, 'one')}) as picked))::text as json,
      json_build_array(${tx.unsafe(key.map((column) => `one.${column}::text`).join(', '))}) as key
    from heddle.${tx(table)} as one
    where one.thread_id = ${threadId} and ${isAfter}
    order by ${keys}
    limit ${PAGE_ROWS}`
  const rows = await tx<{ json: string; key: string[]; found: number }[]>`${withinPageBytes(tx, page)}`
  return { rows: rows.map(({ json }) => json), after: isLastPage(rows, PAGE_ROWS) ? null : (rows.at(-1)?.key ?? null) }
}

function castKey(tx: Tx, values: readonly string[], types: readonly string[]) {
  const [first, ...rest] = values.map((value, index) => tx`${value}::text::${tx.unsafe(types[index] ?? 'text')}`)
  return rest.reduce((list, value) => tx`${list}, ${value}`, first ?? tx`null`)
}

/** A page of messages up to a head, with their exact counts. */
export async function exportMessages(
  tx: Tx,
  { threadId, afterSeq, headSeq }: { threadId: string; afterSeq: number; headSeq: number },
): Promise<readonly string[]> {
  await loadSharedRuns(tx, threadId)
  const part = tx`
    and message.seq > ${afterSeq} and message.seq <= ${headSeq} order by message.seq limit ${PAGE_ROWS}`
  const page = tx`
    select message.seq as place, row_to_json((select picked from (select ${selectColumns(tx, exportTables.message, 'message')},
      split_part(counts.counted, ' ', 1)::integer as tokens, split_part(counts.counted, ' ', 2)::integer as "reasoningTokens"
      ) as picked))::text as json
    from ${someMessagesOf(tx, threadId, part)} as message
    cross join lateral (select ${countedTokens(tx)} as counted) as counts
    where true ${part}`
  const rows = await tx<{ json: string }[]>`${withinPageBytes(tx, page)}`
  return rows.map(({ json }) => json)
}

export type ExportedState = Columns<'contextStates', 'id' | 'replaces'>

/** All compactions of a thread, ordered the same way in every database; they are few compared with its messages. */
export async function exportStates(tx: Tx, { threadId }: { threadId: string }): Promise<ExportedState[]> {
  // Both halves have an index; their union has no index.
  return await tx<ExportedState[]>`
    select id, replaces from (
      select * from heddle.context_states where thread_id = ${threadId} and status <> 'void'
      union all
      select * from heddle.context_states where thread_id = ${threadId} and status = 'void'
    ) as state
    order by ${orderColumns(tx, exportTables.state, 'state')}`
}

/** The first of some states as JSON objects, in the given order, as many as fit into a page; null for one that was deleted. */
export async function exportStatesById(tx: Tx, ids: readonly string[]): Promise<(string | null)[]> {
  const page = tx`
    select wanted.place, (
      select row_to_json((select picked from (select ${selectColumns(tx, exportTables.state, 'state')}) as picked))::text
      from heddle.context_states as state where state.id = wanted.id) as json
    from unnest(${asArray(ids)}::uuid[]) with ordinality as wanted (id, place)`
  const rows = await tx<{ json: string | null }[]>`${withinPageBytes(tx, page)}`
  return rows.map(({ json }) => json)
}

export interface ExportedPruning extends Columns<'prunings', 'stateId' | 'messageId'> {
  readonly json: string
}

/** The prunings of the next messages that have any, ordered by id. */
export async function exportPrunings(
  tx: Tx,
  { threadId, afterMessageId }: { threadId: string; afterMessageId: string | null },
): Promise<ExportedPruning[]> {
  return await tx<ExportedPruning[]>`
    select pruning.state_id, pruning.message_id,
      row_to_json((select picked from (
        select json_build_object('messageId', entry.message_id, 'location', entry.location) as archive,
          ${selectColumns(tx, exportTables.pruning, 'pruning')}) as picked))::text as json
    from (
      select distinct message_id from heddle.prunings
      where thread_id = ${threadId} and ${afterMessageId === null ? tx`true` : tx`message_id > ${afterMessageId}`}
      order by message_id
      limit ${PAGE_ROWS}) as page
    join heddle.prunings as pruning on pruning.thread_id = ${threadId} and pruning.message_id = page.message_id
    cross join lateral (
      select message_id, location from heddle.archive where archive.id = pruning.archive_id offset 0) as entry
    order by pruning.message_id`
}

/** Hashes that one page reads: many, because they are short and each page scans all of the thread's entries. */
const PAGE_HASHES = 5_000

/** The contents of a thread's archive, ordered by hash, for `readArchiveContent`. */
export async function exportHashes(
  tx: Tx,
  { threadId, after }: { threadId: string; after: Uint8Array },
): Promise<readonly Uint8Array[]> {
  const rows = await tx<{ hash: Uint8Array }[]>`
    select distinct content_hash as hash from heddle.archive
    where thread_id = ${threadId} and content_hash > ${after}
    order by content_hash
    limit ${PAGE_HASHES}`
  return rows.map(({ hash }) => hash)
}
