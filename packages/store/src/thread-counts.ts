import type { Tx } from './connection.js'

/** A thread's messages by role, and by whether a context may show them. */
export interface RoleCounts {
  readonly roles: readonly {
    readonly role: string
    /** Why no context shows them; null where one may. */
    readonly aside: string | null
    readonly count: number
    /** Those after the last clear. */
    readonly afterClear: number
    readonly toolCalls: number
  }[]
  /** Tokens that the prunings in force take out of contexts. */
  readonly tokensFreed: number
}

/** Counts a whole thread; reads it once, so it is for people who look at one, not for building contexts. */
export async function countByRole(
  tx: Tx,
  { threadId, clearedSeq }: { threadId: string; clearedSeq: number },
): Promise<RoleCounts> {
  const [roles, [freed]] = await Promise.all([
    tx<RoleCounts['roles'][number][]>`
      select
        role, coalesce(kept_aside, case when role in ('error', 'approval') then role end) as aside,
        count(*) as count, count(*) filter (where seq > ${clearedSeq}) as after_clear,
        coalesce(sum(json_array_length(tool_calls)), 0)::bigint as tool_calls
      from heddle.messages
      where thread_id = ${threadId}
      group by 1, 2
      order by 1, 2`,
    tx<{ tokens: number }[]>`
      select coalesce(sum(entry.token_count - pruning.tokens), 0)::bigint as tokens
      from (
        select distinct on (pruning.message_id) pruning.message_id, pruning.tokens, pruning.archive_id
        from heddle.prunings as pruning
        join heddle.context_states as state on state.id = pruning.state_id and state.status <> 'void'
        where pruning.thread_id = ${threadId} and pruning.undone_at is null
        order by pruning.message_id, state.generation desc) as pruning
      join heddle.archive as entry on entry.id = pruning.archive_id`,
  ])
  return { roles, tokensFreed: freed?.tokens ?? 0 }
}
