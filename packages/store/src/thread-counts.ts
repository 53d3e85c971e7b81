import type { Tx } from './connection.js'
import type { LaneOfThread } from './states.js'

/** Messages of a thread that share a role and whether a context may show them. */
export interface RoleCount {
  readonly role: string
  /** Why no context shows them; null where one may. */
  readonly aside: string | null
  readonly count: number
  /** Those after the last clear. */
  readonly afterClear: number
  readonly toolCalls: number
}

/** Counts a whole thread; reads it once, so it is for people who look at one, not for building contexts. */
export async function countByRole(
  tx: Tx,
  { threadId, clearedSeq }: { threadId: string; clearedSeq: number },
): Promise<RoleCount[]> {
  return await tx<RoleCount[]>`
    select
      role, coalesce(kept_aside, case when role in ('error', 'approval') then role end) as aside,
      count(*) as count, count(*) filter (where seq > ${clearedSeq}) as after_clear,
      coalesce(sum(json_array_length(tool_calls)), 0)::bigint as tool_calls
    from heddle.messages
    where thread_id = ${threadId}
    group by 1, 2
    order by 1, 2`
}

/** How many messages of a thread are pruned in one lane, and what that takes out of its contexts. */
export interface PruningCounts {
  readonly condense: number
  readonly remove: number
  readonly stub: number
  readonly tokensFreed: number
}

export async function countPrunings(tx: Tx, { threadId, lane, clearEpoch }: LaneOfThread): Promise<PruningCounts> {
  const [counts] = await tx<PruningCounts[]>`
    select
      count(*) filter (where action = 'condense') as condense, count(*) filter (where action = 'remove') as remove,
      count(*) filter (where action = 'stub') as stub,
      coalesce(sum(greatest(entry.token_count - in_force.tokens, 0)), 0)::bigint as tokens_freed
    from (
      select distinct on (pruning.message_id) pruning.action, pruning.tokens, pruning.archive_id
      from heddle.context_states as state
      join heddle.prunings as pruning on pruning.thread_id = state.thread_id and pruning.state_id = state.id
      where state.thread_id = ${threadId} and state.lane = ${lane} and state.clear_epoch = ${clearEpoch}
        and state.status <> 'void' and pruning.undone_at is null
      order by pruning.message_id, state.generation desc) as in_force
    join heddle.archive as entry on entry.id = in_force.archive_id`
  return counts ?? { condense: 0, remove: 0, stub: 0, tokensFreed: 0 }
}
