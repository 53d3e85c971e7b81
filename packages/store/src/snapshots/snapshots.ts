import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { type ErrorData, notFound } from '@heddle/contracts'
import { type SnapshotFile, threadsOfSnapshot, withoutMessages, withoutThread } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { findTombstones, shareErasureLock } from '../messages/tombstones.js'
import type { Columns, Rows } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'
import { isOwn } from '../sql/own-project.js'
import { assertStorable, toStorable } from '../sql/text.js'

const compress = promisify(deflate)
const decompress = promisify(inflate)

/** The largest snapshot as JSON: all messages that the limits allow, at three bytes a character. */
const SNAPSHOT_BYTES_MAX = 512 * 1024 * 1024

export type SnapshotStore = Rows['snapshots']['storedIn']

/** A snapshot without its messages. */
export interface SnapshotRow
  extends Columns<
    'snapshots',
    | 'id'
    | 'agentId'
    | 'status'
    | 'createdAtMs'
    | 'deadlineAtMs'
    | 'error'
    | 'description'
    | 'summary'
    | 'summaryError'
    | 'messageCount'
    | 'windowStartMs'
    | 'windowEndMs'
    | 'storedIn'
    | 'fileName'
    | 'threadIds'
    | 'erasedCount'
    | 'needsSummary'
  > {
  readonly agentName: string
  readonly projectName: string
}

export interface SnapshotRequest
  extends Columns<'snapshots', 'id' | 'agentId' | 'description' | 'storedIn' | 'fileName' | 'createdAtMs'> {
  readonly deadlineAtMs: number
}

/**
 * Requests a snapshot: the assemble stage works from the row and stores the result in it. A repeated request extends the
 * deadline of a snapshot that was not created in time; any other state stays unchanged.
 *
 * @returns whether no request had this id before
 * @throws PermanentError `NOT_FOUND` if the agent does not exist or was erased
 */
export async function requestSnapshot(tx: Tx, request: SnapshotRequest): Promise<boolean> {
  const { id, agentId, description, storedIn, fileName, createdAtMs, deadlineAtMs } = request
  assertStorable('description', description ?? undefined)
  await shareErasureLock(tx)
  if ((await findTombstones(tx, [agentId])).length > 0) throw notFound('agent', agentId, 'it was erased')
  const [asked] = await tx<{ isNew: boolean }[]>`
    insert into heddle.snapshots as snapshot (id, agent_id, status, created_at, deadline_at, description, stored_in, file_name)
    values (${id}, ${agentId}, 'requested', ${createdAtMs}, ${deadlineAtMs}, ${description}, ${storedIn}, ${fileName})
    on conflict (id) do update
      set status = 'requested', error = null, deadline_at = greatest(snapshot.deadline_at, excluded.deadline_at)
      where snapshot.status = 'requested' or (snapshot.status = 'failed' and snapshot.error ->> 'code' = 'TIMEOUT')
    returning snapshot.xmax = 0 as is_new`
  return asked?.isNew ?? false
}

/** @returns null if the project has no such snapshot */
export async function loadSnapshotRow(tx: Tx, { id }: { id: string }): Promise<SnapshotRow | null> {
  const [row] = await tx<SnapshotRow[]>`${selectRows(tx)} where snapshot.id = ${id} and ${isOwn(tx, 'snapshot')}`
  return row ?? null
}

/** The same, with the row locked until the transaction ends: of two workers on one request, only one saves. */
export async function holdSnapshot(tx: Tx, { id }: { id: string }): Promise<SnapshotRow | null> {
  const { count } = await tx`select from heddle.snapshots where id = ${id} and ${isOwn(tx, 'snapshots')} for update`
  return count === 0 ? null : await loadSnapshotRow(tx, { id })
}

export interface SavedSnapshot {
  readonly file: SnapshotFile
  readonly summaryError: string | null
}

/**
 * Removes threads and messages from a snapshot that were erased since they were read, and locks the threads until the commit.
 *
 * @returns null if nothing remains
 */
export async function withoutErasedThreads(
  tx: Tx,
  { agentId, file }: { agentId: string; file: SnapshotFile },
): Promise<SnapshotFile | null> {
  const threadIds = threadsOfSnapshot(file)
  const [, standing] = await Promise.all([
    tx`select from heddle.threads where id = any(${asArray(threadIds)}::uuid[]) order by id for key share`,
    tx<{ id: string; isReused: boolean }[]>`
      select thread.id, cursor.erased_at is not null as is_reused
      from heddle.threads as thread
      join heddle.stage_cursors as cursor on cursor.thread_id = thread.id
      where thread.id = any(${asArray(threadIds)}::uuid[]) and thread.agent_id = ${agentId}`,
  ])
  const left = new Set(standing.map(({ id }) => id))
  // A new thread with the name of an erased one is not the thread that was read.
  for (const { id: threadId, isReused } of standing) {
    if (!isReused) continue
    const ids = file.messages.flatMap((message) => (message.thread_id === threadId ? [message.id] : []))
    const { count } = await tx`
      select from heddle.erased_messages where target_id = ${threadId} and id = any(${asArray(ids)}::uuid[]) limit 1`
    if (count > 0) left.delete(threadId)
  }
  const erased = await tx<Columns<'messageErasures', 'threadId' | 'messageId'>[]>`
    select thread_id, message_id from heddle.message_erasures
    where thread_id = any(${asArray(left)}::uuid[])
      and message_id = any(${asArray(file.messages.map(({ id }) => id))}::uuid[])`
  const whole = threadIds.filter((id) => !left.has(id)).reduce(withoutThread, file)
  const kept = [...new Set(erased.map(({ threadId }) => threadId))].reduce((rest, threadId) => {
    const ids = erased.flatMap((row) => (row.threadId === threadId ? [row.messageId] : []))
    return withoutMessages(rest, threadId, new Set(ids))
  }, whole)
  return kept.messages.length === 0 ? null : kept
}

/** Stores the result of {@link withoutErasedThreads} in the same transaction; `erasedCount`: of messages that it removed. */
export async function finishSnapshot(
  tx: Tx,
  { file, summaryError, erasedCount }: SavedSnapshot & { readonly erasedCount: number },
): Promise<void> {
  await tx`
    update heddle.snapshots
    set
      status = 'saved', description = ${file.description === null ? null : toStorable(file.description)},
      summary = ${toStorable(file.summary)}, summary_error = ${summaryError === null ? null : toStorable(summaryError)},
      message_count = ${file.message_count},
      window_start = ${file.window_start === null ? null : Date.parse(file.window_start)},
      window_end = ${Date.parse(file.window_end)}, content = ${await packSnapshot(file)},
      thread_ids = ${asArray(threadsOfSnapshot(file))}::uuid[], needs_summary = ${erasedCount > 0},
      erased_count = ${erasedCount}
    where id = ${file.session_id} and status = 'requested'`
}

/**
 * Stores a new summary of a saved snapshot whose summary was removed.
 *
 * @param given `erasedCount`: of the snapshot that was summarized
 * @returns false if it has a summary, or lost further messages since it was read: then nothing is stored
 */
export async function renewSnapshotSummary(
  tx: Tx,
  { file, summaryError, erasedCount }: SavedSnapshot & { readonly erasedCount: number },
): Promise<boolean> {
  const { count } = await tx`
    update heddle.snapshots
    set
      summary = ${toStorable(file.summary)}, summary_error = ${summaryError === null ? null : toStorable(summaryError)},
      content = ${await packSnapshot(file)}, needs_summary = false
    where id = ${file.session_id} and ${isOwn(tx, 'snapshots')}
      and status = 'saved' and needs_summary and erased_count = ${erasedCount}`
  return count === 1
}

/** @returns false if it was saved or failed before */
export async function failSnapshot(tx: Tx, { id, error }: { id: string; error: ErrorData }): Promise<boolean> {
  const { count } = await tx`
    update heddle.snapshots set status = 'failed', error = ${JSON.stringify(error)}::text::json
    where id = ${id} and ${isOwn(tx, 'snapshots')} and status = 'requested'`
  return count === 1
}

/** @returns null if the project has no such snapshot, or it is not saved */
export async function loadSnapshot(tx: Tx, { id }: { id: string }): Promise<SnapshotFile | null> {
  const [row] = await tx<{ content: Uint8Array | null }[]>`
    select content from heddle.snapshots where id = ${id} and ${isOwn(tx, 'snapshots')}`
  return row?.content == null ? null : await unpackSnapshot(row.content)
}

export interface SnapshotListing {
  readonly agentId: string
  readonly limit: number
  /** The last snapshot of the previous page. */
  readonly before?: { readonly createdAtMs: number; readonly id: string } | undefined
}

/** A page of an agent's saved snapshots, newest first. */
export async function listSnapshots(tx: Tx, { agentId, limit, before }: SnapshotListing): Promise<SnapshotRow[]> {
  return await tx<SnapshotRow[]>`
    ${selectRows(tx)}
    where snapshot.agent_id = ${agentId} and snapshot.status = 'saved'
      and ${before === undefined ? tx`true` : tx`(snapshot.created_at, snapshot.id) < (${before.createdAtMs}, ${before.id})`}
    order by snapshot.created_at desc, snapshot.id desc
    limit ${limit}`
}

/** A snapshot as the table stores it: compressed JSON. */
export async function packSnapshot(file: SnapshotFile): Promise<Uint8Array> {
  return await compress(JSON.stringify(file))
}

/** The reverse of {@link packSnapshot}. @throws RangeError for one that would not fit into memory */
export async function unpackSnapshot(content: Uint8Array): Promise<SnapshotFile> {
  return JSON.parse((await decompress(content, { maxOutputLength: SNAPSHOT_BYTES_MAX })).toString()) as SnapshotFile
}

function selectRows(tx: Tx) {
  return tx`
    select
      snapshot.id, snapshot.agent_id, agent.name as agent_name, project.name as project_name, snapshot.status, snapshot.created_at as created_at_ms,
      snapshot.deadline_at as deadline_at_ms, snapshot.error, snapshot.description, snapshot.summary,
      snapshot.summary_error, snapshot.message_count, snapshot.window_start as window_start_ms,
      snapshot.window_end as window_end_ms, snapshot.stored_in, snapshot.file_name, array_to_json(snapshot.thread_ids) as thread_ids,
      snapshot.erased_count, snapshot.needs_summary
    from heddle.snapshots as snapshot
    join heddle.agents as agent on agent.id = snapshot.agent_id
    join heddle.projects as project on project.project_id = snapshot.project_id`
}
