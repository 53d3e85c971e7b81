import type { ThreadOverview } from '@heddle/contracts'
import type { Tx } from '../connection/connection.js'
import { messagesOf } from '../forks/lineage.js'
import type { LaneOfThread } from './states.js'

/** Messages of a thread that share a role and whether a context may show them. */
export interface RoleCount {
  readonly role: string
  /** Why contexts never show them; null if they may. */
  readonly aside: string | null
  readonly count: number
  readonly toolCalls: number
}

/** Counts the messages of a thread. It reads the whole thread, so it is only for overviews, not for context builds. */
export async function countByRole(tx: Tx, { threadId }: { threadId: string }): Promise<RoleCount[]> {
  return await tx<RoleCount[]>`
    select
      role, coalesce(kept_aside, case when role in ('error', 'approval') then role end) as aside,
      -- A mark that a restore left is no message of its own: it says that one which was cleared is shown again.
      count(*) filter (where restores_seq is null) as count,
      coalesce(sum(json_array_length(tool_calls)), 0)::bigint as tool_calls
    from ${messagesOf(tx, threadId)} as message
    group by 1, 2
    order by 1, 2`
}

/** How many messages of a thread are pruned in one lane, and how many tokens that removes from its contexts. */
type PruningCounts = ThreadOverview['prunings']

export async function countPrunings(tx: Tx, { threadId, lane, clearEpoch }: LaneOfThread): Promise<PruningCounts> {
  const [counts] = await tx<PruningCounts[]>`
    select
      count(*) filter (where action = 'condense') as condense, count(*) filter (where action = 'remove') as remove,
      count(*) filter (where action = 'stub') as stub,
      coalesce(sum(greatest(entry.token_count - in_force.tokens, 0) + calls.freed), 0)::bigint as tokens_freed
    from (
      select distinct on (pruning.message_id)
        pruning.action, pruning.text, pruning.tokens, pruning.archive_id, pruning.calls
      from heddle.prunings as pruning
      -- Lateral with an offset, here and below: one look-up for each row, whatever the planner guesses of their number.
      cross join lateral (
        select generation from heddle.context_states
        where context_states.id = pruning.state_id and lane = ${lane} and clear_epoch = ${clearEpoch} and status <> 'void'
        offset 0) as decided
      where pruning.thread_id = ${threadId} and pruning.undone_at is null
      order by pruning.message_id, decided.generation desc) as in_force
    cross join lateral (
      -- If only inputs of calls are replaced, the entry is that of a call.
      select case when in_force.action = 'condense' and in_force.text = '' then 0 else token_count end as token_count
      from heddle.archive where archive.id = in_force.archive_id offset 0) as entry
    cross join lateral (
      select coalesce(sum((condensed ->> 'freedTokens')::integer), 0) as freed
      from json_array_elements(in_force.calls) as condensed) as calls`
  return counts ?? { condense: 0, remove: 0, stub: 0, tokensFreed: 0 }
}
