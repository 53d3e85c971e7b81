import type { PartsOf, ThreadSizes } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { messagesOf, tokenCountsOf } from '../forks/lineage.js'

export interface StoredThreadSizes extends ThreadSizes {
  /** Messages whose tokens are only estimated, without the signatures of their reasoning. */
  readonly uncounted: number
}

/** The total size of the messages that contexts may show. It reads the whole thread, so it is only for overviews. */
export async function loadThreadSizes(tx: Tx, { threadId }: { threadId: string }): Promise<StoredThreadSizes> {
  const counting = tx<Omit<StoredThreadSizes, 'parts'>[]>`
    -- Grouped and not joined: on a table that grew faster than the server took its statistics, the planner takes both sides
    -- for a few rows and compares each message with each count.
    with each as (
      select
        seq, max(tokens) as tokens, max(reasoning_tokens) as reasoning_tokens, max(tokens_estimate) as tokens_estimate,
        max(tool_calls) as tool_calls, max(call_id_characters) as call_id_characters
      from (
        select
          run.seq + one.place - 1 as seq, one.tokens, one.reasoning as reasoning_tokens, null::integer as tokens_estimate,
          null::integer as tool_calls, null::integer as call_id_characters, false as is_message
        from ${tokenCountsOf(tx, threadId)} as run
        cross join unnest(run.tokens, run.reasoning) with ordinality as one (tokens, reasoning, place)
        union all
        select seq, null, null, tokens_estimate, json_array_length(tool_calls), length(tool_call_id), true
        from ${messagesOf(tx, threadId)} as message
        where restores_seq is null
          and kept_aside is null and role not in ('error', 'approval')
      ) as row_of_seq
      group by seq
      having bool_or(is_message)
    )
    select
      count(*) as messages, coalesce(sum(tool_calls), 0)::bigint as tool_calls,
      coalesce(sum(coalesce(tokens, tokens_estimate)), 0)::bigint as tokens,
      coalesce(sum(reasoning_tokens), 0)::bigint as reasoning_tokens,
      coalesce(sum(call_id_characters), 0)::bigint as call_id_characters,
      count(*) filter (where tokens is null) as uncounted
    from each`
  const reading = tx<PartsOf[]>`
    select role, is_error, parts from ${messagesOf(tx, threadId)} as message
    where parts is not null and restores_seq is null
      and kept_aside is null and role not in ('error', 'approval')
    order by seq desc
    limit ${MESSAGES_WITH_PARTS_MAX}`
  const [[sizes = NOTHING], parts] = await Promise.all([counting, reading])
  return { ...sizes, parts }
}

/** Messages whose parts are read. In a thread with more, older ones are assumed to have the highest cost. */
const MESSAGES_WITH_PARTS_MAX = 10_000

const NOTHING = { messages: 0, toolCalls: 0, tokens: 0, reasoningTokens: 0, callIdCharacters: 0, uncounted: 0 }
