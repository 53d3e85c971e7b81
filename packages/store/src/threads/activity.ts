import type { Activity } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { Columns } from '../schema/rows.js'
import { asArray } from '../sql/arrays.js'

/** Threads and processes are counted up to this number. */
export const ACTIVE_THREADS_COUNTED_MAX = 1_000
const COUNTED_MAX = ACTIVE_THREADS_COUNTED_MAX
/** Of a goal, which may be as long as a message; a line about another thread shows less. */
const GOAL_CHARACTERS_MAX = 1_000

export interface ActivityQuery {
  readonly threadId: string
  readonly agentId: string
  /** Other threads to include; null for all of them. Default null. */
  readonly amongIds?: readonly string[] | null
  /** Threads and processes to name; the others are counted. */
  readonly threadsMax: number
  readonly ownProcessesMax: number
  readonly otherProcessesMax: number
}

interface ActiveThread extends Columns<'threads', 'name'>, Columns<'threadVersions', 'title' | 'goal' | 'status'> {
  readonly isOwn: boolean
  readonly processes: { name: string; status: string }[]
  readonly processCount: number
}

/**
 * The running processes of a thread, and the agent's other threads that have a status or a running process, newest first (docs/formats.md#the-order-of-the-parts).
 * Each context loads it: the cost depends on what is shown, not on how many threads and processes ever existed.
 */
export async function loadActivity(tx: Tx, query: ActivityQuery): Promise<Activity> {
  const { threadId, agentId, amongIds = null, threadsMax, ownProcessesMax, otherProcessesMax } = query
  const among = amongIds === null ? tx`true` : tx`id = any(${asArray(amongIds)}::uuid[])`
  const [shown, [counted]] = await Promise.all([
    tx<ActiveThread[]>`
      select
        shown.is_own, shown.name, described.title, described.goal, described.status, running.processes,
        running.process_count
      from (
        (select id, name, version, active_at, true as is_own from heddle.threads
          where id = ${threadId} and active_at is not null)
        union all
        (select id, name, version, active_at, false as is_own from heddle.threads
          where agent_id = ${agentId} and active_at is not null and id <> ${threadId} and ${among}
          order by active_at desc nulls last, id
          limit ${threadsMax})
      ) as shown
      left join lateral (
        select title, left(goal, ${GOAL_CHARACTERS_MAX}::integer) as goal, status
        from heddle.thread_versions as described
        where described.thread_id = shown.id and described.version = shown.version
        offset 0) as described on true
      cross join lateral (
        select
          coalesce(
            (select json_agg(json_build_object('name', newest.name, 'status', newest.status))
              from (
                select head.name, process.status
                from heddle.running_processes as head
                cross join lateral (
                  select status from heddle.processes
                  where processes.thread_id = head.thread_id and processes.name = head.name
                    and processes.version = head.version
                  offset 0) as process
                where head.thread_id = shown.id
                order by head.updated_at desc nulls last, head.name
                limit case when shown.is_own then ${ownProcessesMax}::bigint else ${otherProcessesMax}::bigint end
              ) as newest),
            '[]'::json) as processes,
          (select count(*) from (
            select from heddle.running_processes as head where head.thread_id = shown.id limit ${COUNTED_MAX}
          ) as head) as process_count
        offset 0) as running
      order by shown.is_own desc, shown.active_at desc nulls last, shown.id`,
    tx<{ threads: number }[]>`
      select count(*) as threads from (
        select from heddle.threads
        where agent_id = ${agentId} and active_at is not null and id <> ${threadId} and ${among}
        limit ${COUNTED_MAX}
      ) as active`,
  ])
  const own = shown.find(({ isOwn }) => isOwn)
  const others = shown.filter(({ isOwn }) => !isOwn)
  return {
    processes: own?.processes ?? [],
    moreProcesses: own === undefined ? 0 : own.processCount - own.processes.length,
    threads: others.map(({ name, title, goal, status, processes, processCount }) => {
      return { name, title, goal, status, processes, moreProcesses: processCount - processes.length }
    }),
    moreThreads: (counted?.threads ?? 0) - others.length,
  }
}
