import { notFound, type PartialSettings, type ThreadDetails, type ThreadEntry } from '@heddle/contracts'
import { canonicalJson } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { ensureThread } from '../messages/ensure-threads.js'
import { assertStorable } from '../sql/text.js'

export type ThreadDetailsRow = Omit<ThreadEntry, 'agent'>

export interface ThreadChange extends ThreadDetails {
  readonly projectId: string
  readonly projectName: string
  readonly agent: string
  readonly thread: string
}

/**
 * Creates a thread or adds a version of its details. Without a change no version is added, so a repeated put is harmless.
 *
 * @throws ConflictError if the thread belongs to another agent, or one of them was erased
 * @throws PermanentError `NOT_FOUND` if the thread was erased meanwhile
 */
export async function putThread(tx: Tx, change: ThreadChange): Promise<ThreadDetailsRow> {
  for (const field of ['title', 'goal', 'status'] as const) assertStorable(field, change[field])
  const { threadId } = await ensureThread(tx, change)
  const before = await lockThreadDetails(tx, { threadId })
  if (!before) throw notFound('thread', change.thread, 'it was erased meanwhile; use another name')
  const after = {
    ...before,
    ...(change.title !== undefined && { title: change.title }),
    ...(change.goal !== undefined && { goal: change.goal }),
    ...(change.status !== undefined && { status: change.status }),
    ...(change.settings !== undefined && { settings: change.settings }),
    ...(change.loop !== undefined && { loop: change.loop }),
  }
  if (canonicalJson(before) === canonicalJson(after)) return before
  const version = before.version + 1
  await Promise.all([
    tx`
      insert into heddle.thread_versions (thread_id, version, title, goal, status, settings, loop)
      values (
        ${threadId}, ${version}, ${after.title}, ${after.goal}, ${after.status},
        ${JSON.stringify(after.settings)}::text::json,
        ${after.loop === null ? null : JSON.stringify(after.loop)}::text::json)`,
    tx`update heddle.threads set version = ${version} where id = ${threadId}`,
    markActivity(tx, { threadId }),
  ])
  return { ...after, version }
}

/**
 * The current details, with the thread's row locked against other changes of details and processes until the commit.
 *
 * @returns null if there is no such thread
 */
async function lockThreadDetails(tx: Tx, { threadId }: { threadId: string }): Promise<ThreadDetailsRow | null> {
  // Locked before it is read, so that this change starts from what a concurrent one committed.
  const [locked] = await tx`select 1 from heddle.threads where id = ${threadId} for no key update`
  return locked === undefined ? null : await loadThreadDetails(tx, { threadId })
}

/** @returns null if there is no such thread */
export async function loadThreadDetails(tx: Tx, { threadId }: { threadId: string }): Promise<ThreadDetailsRow | null> {
  const [row] = await tx<(Omit<ThreadDetailsRow, 'settings'> & { settings: PartialSettings | null })[]>`
    select
      thread.id as thread_id, thread.name, thread.agent_id, thread.version, described.title, described.goal,
      described.status, described.settings, described.loop
    from heddle.threads as thread
    left join heddle.thread_versions as described
      on described.thread_id = thread.id and described.version = thread.version
    where thread.id = ${threadId}`
  return row === undefined ? null : { ...row, settings: row.settings ?? {} }
}

/**
 * Records that a thread's details or processes changed, and whether the thread has a status or a running process now.
 *
 * @returns the statement, which is sent when it is awaited: after those before it in a `Promise.all`
 */
export function markActivity(tx: Tx, { threadId }: { threadId: string }): Promise<unknown> {
  return tx`
    update heddle.threads as thread
    set active_at = case
      when exists (select from heddle.running_processes as running where running.thread_id = thread.id)
        or exists (
          select from heddle.thread_versions as described
          where described.thread_id = thread.id and described.version = thread.version and described.status is not null)
      then clock_timestamp()
    end
    where thread.id = ${threadId}`
}
