import type { PartsOf, ThreadSizes } from '@heddle/core'
import type { Tx } from '../connection/connection.js'

export interface StoredThreadSizes extends ThreadSizes {
  /** Messages whose tokens are still an estimate, without the signatures of their reasoning. */
  readonly uncounted: number
}

/** Adds up what the messages of a thread take that contexts may show. Reads the whole thread: for people who look at one. */
export async function loadThreadSizes(tx: Tx, { threadId }: { threadId: string }): Promise<StoredThreadSizes> {
  const counting = tx<Omit<StoredThreadSizes, 'parts'>[]>`
    with counted as (
      select run.seq + one.place - 1 as seq, max(one.tokens) as tokens, max(one.reasoning) as reasoning_tokens
      from heddle.message_tokens as run
      cross join unnest(run.tokens, run.reasoning) with ordinality as one (tokens, reasoning, place)
      where run.thread_id = ${threadId}
      group by 1
    )
    select
      count(*) as messages, coalesce(sum(json_array_length(message.tool_calls)), 0)::bigint as tool_calls,
      coalesce(sum(coalesce(counted.tokens, message.tokens_estimate)), 0)::bigint as tokens,
      coalesce(sum(counted.reasoning_tokens), 0)::bigint as reasoning_tokens,
      coalesce(sum(length(message.tool_call_id)), 0)::bigint as call_id_characters,
      count(*) filter (where counted.seq is null) as uncounted
    from heddle.messages as message
    left join counted on counted.seq = message.seq
    where message.thread_id = ${threadId} and message.restores_seq is null
      and message.kept_aside is null and message.role not in ('error', 'approval')`
  const reading = tx<PartsOf[]>`
    select role, is_error, parts from heddle.messages
    where thread_id = ${threadId} and parts is not null and restores_seq is null
      and kept_aside is null and role not in ('error', 'approval')
    order by seq desc
    limit ${MESSAGES_WITH_PARTS_MAX}`
  const [[sizes = NOTHING], parts] = await Promise.all([counting, reading])
  return { ...sizes, parts }
}

/** Messages whose parts are looked at: of a thread with more, the older ones are taken by the highest rule. */
const MESSAGES_WITH_PARTS_MAX = 10_000

const NOTHING = { messages: 0, toolCalls: 0, tokens: 0, reasoningTokens: 0, callIdCharacters: 0, uncounted: 0 }
