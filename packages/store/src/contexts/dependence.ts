import { statusLimits } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { someMessagesOf } from '../forks/lineage.js'
import { threadStands } from '../messages/tombstones.js'
import { asArray } from '../sql/arrays.js'
import type { isOwn } from '../sql/own-project.js'
import { ACTIVE_THREADS_COUNTED_MAX } from '../threads/activity.js'

/** The versions and the time on which a context depends: it is current while the versions are equal and before that time. */
export interface Dependence {
  /** The lane of the request, and another one whose state stands in for it. */
  readonly lanes: readonly string[]
  readonly versions: string
  /** When a message leaves its window, in milliseconds since 1970; null if none ever does. */
  readonly holdsUntilMs: number | null
}

export interface DependenceQuery {
  readonly threadId: string
  readonly lanes: readonly string[]
  /** The time that the context shows, in milliseconds since 1970. */
  readonly asOfMs: number
  /** How long messages stay in the window, in seconds; null: for ever. */
  readonly rollingWindow: number | null
}

/**
 * The dependence of a context that is built in the same transaction.
 *
 * @param tx with snapshot isolation
 */
export async function loadDependence(
  tx: Tx,
  { threadId, lanes, asOfMs, rollingWindow }: DependenceQuery,
): Promise<Dependence> {
  // A clear may hide the oldest of these: then the context is rebuilt earlier than necessary.
  const sinceMs = rollingWindow === null ? Number.POSITIVE_INFINITY : asOfMs - rollingWindow * 1_000
  const oldest = tx`and ordered_at > ${sinceMs} order by ordered_at limit 1`
  const [row] = await tx<{ versions: string; oldestMs: number | null }[]>`
    select ${versionsOf(tx, tx`${threadId}::uuid`, tx`${asArray(lanes)}::text[]`)} as versions, (
      select ordered_at from ${someMessagesOf(tx, threadId, oldest)} as message where true ${oldest}
    ) as oldest_ms`
  const oldestMs = row?.oldestMs ?? null
  const holdsUntilMs = rollingWindow === null || oldestMs === null ? null : oldestMs + rollingWindow * 1_000
  return { lanes, versions: row?.versions ?? '', holdsUntilMs }
}

/** The current versions of everything that contexts of a thread depend on, as one text; empty if there is no such thread. */
export async function loadVersions(
  tx: Tx,
  { threadId, lanes }: Pick<DependenceQuery, 'threadId' | 'lanes'>,
): Promise<string> {
  const [row] = await tx<{ versions: string | null }[]>`
    select ${versionsOf(tx, tx`${threadId}::uuid`, tx`${asArray(lanes)}::text[]`)} as versions`
  return row?.versions ?? ''
}

/**
 * How far a thread has grown since some versions were read.
 *
 * @returns the heads then and now; null if anything else has changed
 */
export function growthBetween(
  before: string,
  now: string,
): { readonly fromSeq: number; readonly toSeq: number } | null {
  if (before === '' || now === '') return null
  // The head is the number before the first comma.
  const [from, to] = [before.indexOf(','), now.indexOf(',')]
  if (before.slice(from) !== now.slice(to)) return null
  return { fromSeq: Number(before.slice(1, from)), toSeq: Number(now.slice(1, to)) }
}

/**
 * The versions of everything that contexts of a thread depend on, as one text; null if there is no such thread. A new
 * dependence of contexts must be added here.
 */
export function versionsOf(tx: Tx, threadId: Fragment, lanes: Fragment) {
  return tx`(
    select json_build_array(
      -- First: see growthBetween.
      cursor.head_seq, cursor.iteration_count, cursor.progress_count,
      -- A thread that grows by marks shows something at another place: that is more than growth.
      cursor.restored_count, cursor.erased_count,
      -- With each change of a process the row of its thread gets another xmin, also within one millisecond.
      thread.version, thread.active_at, thread.xmin::text, agent.version, agent.clear_epoch, agent.last_cleared_at,
      (select json_agg(json_build_array(latest.id, latest.ready_at) order by asked.place)
        from unnest(${lanes}) with ordinality as asked (lane, place)
        left join lateral (
          select state.id, state.ready_at from heddle.context_states as state
          where state.thread_id = thread.id and state.lane = asked.lane and state.clear_epoch = agent.clear_epoch
            and state.status = 'ready'
          order by state.generation desc limit 1) as latest on true),
      (select json_build_array(count(*), max(undone_at), max(redone_at)) from heddle.undone_messages as undone
        where undone.thread_id = thread.id),
      (select json_build_array(count(*), max(changed_at)) from heddle.pins where pins.thread_id = thread.id),
      (select json_build_array(count(*), sum(item.version)) from heddle.items as item where item.agent_id = agent.id),
      (select json_agg(json_build_array(server.name, server.include) order by server.name)
        from heddle.tool_servers as server where server.agent_id = agent.id),
      (select json_agg(json_build_array(learnt.model, learnt.ratio, learnt.offset, learnt.margin) order by learnt.model)
        from heddle.calibrations as learnt where learnt.agent_id = agent.id),
      (select json_build_array(count(*), sum(block.version)) from heddle.memory_blocks as block
        where block.owner_id in (thread.id, agent.id, thread.project_id)),
      case when exists (select from heddle.memory_block_grants as granted where granted.grantee_agent_id = agent.id) then (
        select json_build_array(sum(granted.rows), sum(granted.versions), max(granted.changed_at), sum((
          select block.version from heddle.memory_blocks as block
          where block.owner_id = granted.owner_id and block.label = granted.label)))
        from (
          select owner_id, label, count(*) as rows, sum(version) as versions, max(created_at) as changed_at
          from heddle.memory_block_grants where grantee_agent_id = agent.id
          group by owner_id, label) as granted
        where not exists (select from heddle.tombstones where target_id = granted.owner_id)) end,
      (select sum(scope.changes) from heddle.fact_scopes as scope where scope.scope_id in (thread.id, agent.id)),
      case when cursor.shared_seq > 0 then (
        select sum(scope.changes) from heddle.thread_origins as run
        join heddle.fact_scopes as scope on scope.scope_id = run.origin_id
        where run.thread_id = thread.id) end,
      (select count(*) from heddle.thread_items as chosen where chosen.thread_id = thread.id),
      (select json_agg(json_build_array(other.id, other.version, other.active_at, other.changed)) from (
        select id, version, active_at, threads.xmin::text as changed from heddle.threads
        where threads.agent_id = agent.id and active_at is not null and threads.id <> thread.id
        order by active_at desc nulls last, id
        limit ${statusLimits.threadsMax}) as other),
      (select count(*) from (
        select from heddle.threads
        where threads.agent_id = agent.id and active_at is not null and threads.id <> thread.id
        limit ${ACTIVE_THREADS_COUNTED_MAX}) as active)
    )::text
    from heddle.threads as thread
    join heddle.stage_cursors as cursor on cursor.thread_id = thread.id
    join heddle.agents as agent on agent.id = thread.agent_id
    where thread.id = ${threadId} and ${threadStands(tx)})`
}

type Fragment = ReturnType<typeof isOwn>
