import type { Tx } from '../connection/connection.js'
import { isNoFork } from '../forks/lineage.js'
import type { Columns } from '../schema/rows.js'
import { byId, givenId } from '../sql/by-id.js'
import { byIndexOrder } from '../sql/index-order.js'
import type { ArchiveEntry } from './archive.js'

/** Conditions on entries, all of which must be met. */
export interface ArchiveSelection {
  readonly agentId?: string
  readonly threadId?: string
  readonly kinds?: readonly string[]
  /** Case-insensitive. */
  readonly toolName?: string
  /** A file, or a folder with all that is in it, anywhere in the paths of an entry. */
  readonly path?: string
  readonly failed?: boolean
  /** Milliseconds since 1970: at or after. */
  readonly sinceMs?: number
  /** Before. */
  readonly untilMs?: number
  readonly before?: ArchivePlace
  readonly limit: number
}

/** A position in the order of entries: newest first. */
export interface ArchivePlace {
  readonly atMs: number
  readonly id: string
}

export interface SelectedEntry
  extends ArchiveEntry,
    Columns<'archive', 'location'>,
    Columns<'messages', 'code' | 'sourceId'> {
  readonly threadName: string
  readonly threadCode: string
  /** The line that replaces the content in contexts; null if it was removed. */
  readonly line: string | null
}

export interface SelectedPage {
  readonly entries: readonly SelectedEntry[]
  /** Where the next page begins; null at the end. */
  readonly next: ArchivePlace | null
}

/**
 * Most entries that one query reads, newest first: a rare match in a long history takes several pages, and the time of each
 * query is limited.
 */
export const ARCHIVE_READ_MAX = 10_000

/** All kinds of entries: a selection of a whole agent is read kind by kind. */
const ALL_KINDS = ['file_view', 'grep', 'bash', 'edit', 'assistant', 'other'] as const

/**
 * A page of the archive's entries, newest first, by an index in that order: of one thread, or of the project kind by kind. A
 * page may have fewer entries than its limit, or none, before the end of the list.
 */
export async function selectArchive(tx: Tx, selection: ArchiveSelection): Promise<SelectedPage> {
  const { limit } = selection
  const page = tx<(Partial<SelectedEntry> & { lookedAt: number; oldestAt: number | null; oldestId: string | null })[]>`
    with candidates as materialized (
      ${selection.threadId === undefined ? candidatesOfProject(tx, selection) : candidatesOfThread(tx, selection)}
      order by original_created_at desc, id desc
      limit ${ARCHIVE_READ_MAX}
    ),
    looked as (
      select
        count(*) as looked_at, min(original_created_at) as oldest_at,
        (array_agg(id order by original_created_at, id))[1] as oldest_id
      from candidates
    )
    select
      looked.looked_at, looked.oldest_at, looked.oldest_id, entry.*, thread.name as thread_name,
      thread.code as thread_code, message.code, message.source_id, pruned.line
    from looked
    left join lateral (
      select ${entryColumns(tx)}
      from candidates
      where ${conditions(tx, selection)}
        and ${ofAgent(tx, selection)}
      order by original_created_at desc, id desc
      limit ${limit + 1}) as entry on true
    left join lateral (
      select name, code from heddle.threads where threads.id = entry.thread_id offset 0) as thread on true
    left join lateral (
      select named.* from ${givenId(tx, tx`entry.message_id`)}
      cross join lateral (
        select code, source_id from heddle.messages
        where messages.thread_id = entry.thread_id and ${byId(tx, tx`messages`)}) as named) as message on true
    left join lateral (${lineOf(tx)}) as pruned on true
    order by entry.original_created_at_ms desc, entry.id desc`
  const [, rows] = await Promise.all([byIndexOrder(tx), page])
  const found = rows.flatMap((row) => (row.id === undefined || row.id === null ? [] : [row as SelectedEntry]))
  const entries = found.slice(0, limit)
  const last = entries.at(-1)
  if (found.length > limit && last) return { entries, next: { atMs: last.originalCreatedAtMs, id: last.id } }
  const [looked] = rows
  const isBounded = looked !== undefined && looked.lookedAt >= ARCHIVE_READ_MAX
  const oldest = isBounded && looked.oldestAt !== null && looked.oldestId !== null
  return { entries, next: oldest ? { atMs: looked.oldestAt ?? 0, id: looked.oldestId ?? '' } : null }
}

function candidatesOfThread(tx: Tx, selection: ArchiveSelection) {
  const { threadId = '' } = selection
  const own = tx`
    select * from heddle.archive
    where thread_id = ${threadId} and ${within(tx, selection)}`
  if (isNoFork(tx, threadId)) return own
  // The server orders entries of several threads only after it has read them, so that those of each are limited.
  const newest = tx`order by original_created_at desc, id desc limit ${ARCHIVE_READ_MAX}`
  return tx`select * from ((${own} ${newest}) union all ${sharedCandidates(tx, threadId, selection)}) as entry`
}

/** The entries of messages that a fork shares. */
function sharedCandidates(tx: Tx, threadId: string, selection: ArchiveSelection) {
  return tx`
    select shared.*
    from heddle.thread_origins as run
    cross join lateral (
      select * from heddle.archive
      where archive.thread_id = run.origin_id and ${within(tx, selection)} and exists (
        select from (
          select message.seq from ${givenId(tx, tx`archive.message_id`)}
          cross join lateral (
            select seq from heddle.messages
            where messages.thread_id = run.origin_id and ${byId(tx, tx`messages`)}) as message) as named
        where named.seq > run.after_seq and named.seq <= run.to_seq)
      order by original_created_at desc, id desc
      limit ${ARCHIVE_READ_MAX}) as shared
    where run.thread_id = ${threadId}`
}

function candidatesOfProject(tx: Tx, selection: ArchiveSelection) {
  const { kinds = ALL_KINDS } = selection
  return tx`
    select entry.*
    from json_array_elements_text(${JSON.stringify(kinds)}::text::json) as kind (name)
    cross join lateral (
      select * from heddle.archive
      where project_id = (select nullif(current_setting('heddle.project_id', true), '')::uuid)
        and content_type = kind.name and ${within(tx, selection)}
      order by original_created_at desc, id desc
      limit ${ARCHIVE_READ_MAX}) as entry`
}

/** The columns of an entry as shown. */
export function entryColumns(tx: Tx) {
  return tx`
    id, thread_id, message_id, location, content_type, summary, to_json(file_paths) as file_paths, tool_name, token_count, failed,
    original_created_at as original_created_at_ms, archived_at as archived_at_ms,
    last_accessed_at as last_accessed_at_ms, access_count`
}

/** The line that replaces the content of `entry` in contexts: that of its message, or of one of its calls. */
export function lineOf(tx: Tx) {
  return tx`
    select case when entry.location = '' then text else (
        select condensed ->> 'text' from json_array_elements(prunings.calls) as condensed
        where 'tool-' || (condensed ->> 'number') = entry.location) end as line
    from heddle.prunings
    where prunings.thread_id = entry.thread_id
      and case when entry.location = '' then prunings.text <> '' else prunings.calls is not null end
      -- Of a message that was restored, the decision may be one about the mark that shows it.
      and prunings.message_id in (
        select entry.message_id
        union all
        select mark.id from heddle.messages as mark
        where mark.thread_id = entry.thread_id and mark.restores_seq = (
          select named.seq from ${givenId(tx, tx`entry.message_id`)}
          cross join lateral (
            select seq from heddle.messages as original
            where original.thread_id = entry.thread_id and ${byId(tx, tx`original`)}) as named))
    order by prunings.created_at desc limit 1`
}

export function within(tx: Tx, { sinceMs, untilMs, before }: Partial<ArchiveSelection>) {
  return tx`
    ${sinceMs === undefined ? tx`true` : tx`original_created_at >= ${sinceMs}`}
    and ${untilMs === undefined ? tx`true` : tx`original_created_at < ${untilMs}`}
    and ${before === undefined ? tx`true` : tx`(original_created_at, id) < (${before.atMs}, ${before.id}::uuid)`}`
}

function ofAgent(tx: Tx, { agentId }: ArchiveSelection) {
  return agentId === undefined
    ? tx`true`
    : tx`(select agent_id from heddle.threads where threads.id = candidates.thread_id) = ${agentId}`
}

export function conditions(tx: Tx, { kinds, toolName, path, failed }: Partial<ArchiveSelection>) {
  // With slashes around both, a folder's name matches only whole parts of a path; it is not a pattern, so nothing is escaped.
  const parts = (path ?? '').split('/').filter((part) => part !== '' && part !== '.')
  const folder = parts.length === 0 ? '/' : `/${parts.join('/')}/`
  return tx`
    ${kinds === undefined ? tx`true` : tx`content_type in (select json_array_elements_text(${JSON.stringify(kinds)}::text::json))`}
    and ${toolName === undefined ? tx`true` : tx`lower(tool_name) = lower(${toolName})`}
    and ${failed === undefined ? tx`true` : tx`failed = ${failed}`}
    and ${path === undefined ? tx`true` : tx`exists (select from unnest(file_paths) as given (path) where strpos('/' || given.path || '/', ${folder}) > 0)`}`
}
