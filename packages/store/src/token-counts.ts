import { asArray, asQuotedArray } from './arrays.js'
import type { Tx } from './connection.js'

/** Counts in one row: small enough that Postgres keeps them in the row itself. */
const RUN_MESSAGES_MAX = 256

export interface TokenCount {
  readonly seq: number
  readonly tokens: number
}

/**
 * The exact count of a message, for `select ... from heddle.messages as message`; null where it was not counted yet.
 *
 * A subquery and no join: one look-up for each row that is returned, whatever the planner guesses of their number. It finds
 * the last run that begins at the message or before, and an element beyond its end is null.
 */
export function countedTokens(tx: Tx) {
  return tx`(
    select counted.tokens[message.seq - counted.seq + 1] from heddle.message_tokens as counted
    where counted.thread_id = message.thread_id and counted.seq <= message.seq
    order by counted.seq desc
    limit 1)`
}

/**
 * Records exact token counts, unless the thread is gone. A count that is there stays: the same text always counts the same.
 * Where two count the same messages at once, the longer of two runs stays; what a run hides of another is counted again.
 *
 * @param counts in the order of `seq`
 */
export async function recordTokenCounts(
  tx: Tx,
  { threadId, counts }: { threadId: string; counts: readonly TokenCount[] },
): Promise<void> {
  if (counts.length === 0) return
  const runs = runsOf(counts)
  await tx`
    insert into heddle.message_tokens (thread_id, seq, tokens)
    select thread.id, counted.seq, counted.tokens::integer[]
    from (select id from heddle.threads where id = ${threadId} for key share) as thread
    cross join unnest(
      ${asArray(runs.map(({ seq }) => seq))}::bigint[], ${asQuotedArray(runs.map(({ tokens }) => asArray(tokens)))}::text[]
    ) as counted (seq, tokens)
    on conflict (thread_id, seq) do update set tokens = excluded.tokens
    where cardinality(excluded.tokens) > cardinality(message_tokens.tokens)`
}

interface Run {
  /** Of the first of its messages. */
  readonly seq: number
  readonly tokens: number[]
}

function runsOf(counts: readonly TokenCount[]): Run[] {
  const runs: Run[] = []
  for (const { seq, tokens } of counts) {
    const last = runs.at(-1)
    const isNext = last !== undefined && seq === last.seq + last.tokens.length && last.tokens.length < RUN_MESSAGES_MAX
    if (isNext) last.tokens.push(tokens)
    else runs.push({ seq, tokens: [tokens] })
  }
  return runs
}
