import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { assertStorable } from '../sql/text.js'
import { markActivity } from './thread-details.js'

/** The latest version of a process of a thread. */
export interface ProcessRow extends Columns<'processes', 'name' | 'version' | 'status' | 'endedAtMs'> {
  readonly updatedAtMs: number
}

export interface ProcessChange {
  readonly threadId: string
  readonly name: string
  /** If omitted, it stays unchanged. */
  readonly status?: string | undefined
  readonly ended: boolean
}

export type PutProcess =
  | { readonly process: ProcessRow }
  /** There is no such thread, or no such process and no status to create it with. */
  | { readonly missing: 'thread' | 'process' }

/**
 * Stores the state of a process of a thread. Without a change no version is added. A status for a process that ended starts
 * it again.
 */
export async function putProcess(tx: Tx, { threadId, name, status, ended }: ProcessChange): Promise<PutProcess> {
  assertStorable('process', name)
  assertStorable('status', status)
  const [thread] = await tx`select 1 from heddle.threads where id = ${threadId} for no key update`
  if (thread === undefined) return { missing: 'thread' }
  const before = await loadProcess(tx, { threadId, name })
  const next = status ?? before?.status
  if (next === undefined) return { missing: 'process' }
  if (before && before.status === next && (before.endedAtMs !== null) === ended) return { process: before }
  const version = (before?.version ?? 0) + 1
  await Promise.all([
    tx`
      insert into heddle.processes (thread_id, name, version, status, ended_at, created_at)
      values (
        ${threadId}, ${name}, ${version}, ${next}, case when ${ended} then clock_timestamp() end, clock_timestamp())`,
    ended
      ? tx`delete from heddle.running_processes where thread_id = ${threadId} and name = ${name}`
      : tx`
        insert into heddle.running_processes (thread_id, name, version, updated_at)
        values (${threadId}, ${name}, ${version}, clock_timestamp())
        on conflict (thread_id, name) do update set version = excluded.version, updated_at = excluded.updated_at`,
    markActivity(tx, { threadId }),
  ])
  const process = await loadProcess(tx, { threadId, name })
  if (!process) throw new Error(`a process of thread ${threadId} is missing after its insert`)
  return { process }
}

/** @returns null if the thread has no process of this name */
export async function loadProcess(
  tx: Tx,
  { threadId, name }: { threadId: string; name: string },
): Promise<ProcessRow | null> {
  const [process] = await tx<ProcessRow[]>`
    select name, version, status, ended_at as ended_at_ms, created_at as updated_at_ms
    from heddle.processes
    where thread_id = ${threadId} and name = ${name}
    order by version desc
    limit 1`
  return process ?? null
}

export interface ProcessListing {
  readonly threadId: string
  readonly limit: number
  /** The last name of the previous page. */
  readonly afterName?: string
}

/** A page of a thread's processes by name, including those that ended, each in its latest version. */
export async function listProcesses(
  tx: Tx,
  { threadId, limit, afterName = '' }: ProcessListing,
): Promise<ProcessRow[]> {
  return await tx<ProcessRow[]>`
    select distinct on (name) name, version, status, ended_at as ended_at_ms, created_at as updated_at_ms
    from heddle.processes
    where thread_id = ${threadId} and name > ${afterName}
    order by name, version desc
    limit ${limit}`
}
