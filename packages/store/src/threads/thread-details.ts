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
 * Makes a thread or gives it a new version of its details. Where nothing changes, no version is added, so that putting the
 * same twice does no harm.
 *
 * @throws ConflictError where the thread belongs to another agent, or where one of them was erased
 * @throws PermanentError `NOT_FOUND` where the thread was erased meanwhile
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
 * The details in force, with the thread's row locked against other changes of details and processes until the commit.
 *
 * @returns null where there is no such thread
 */
async function lockThreadDetails(tx: Tx, { threadId }: { threadId: string }): Promise<ThreadDetailsRow | null> {
  // Locked first and read after: what another change committed meanwhile is what this one begins with.
  const [locked] = await tx`select 1 from heddle.threads where id = ${threadId} for no key update`
  return locked === undefined ? null : await loadThreadDetails(tx, { threadId })
}

/** @returns null where there is no such thread */
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
 * Notes that a thread's details or processes changed, and whether anything of it is at work now.
 *
 * @returns the statement itself, which is sent when it is awaited: after those that stand before it in a `Promise.all`
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
