import type { Tx } from '../connection/connection.js'
import { loadSharedRuns } from '../forks/lineage.js'
import { asArray, asQuotedArray } from '../sql/arrays.js'

/** Counts in one row: small enough that Postgres keeps them in the row itself. */
const RUN_MESSAGES_MAX = 256
/** An update rewrites the whole row, so a row holds at most this many counts, a fraction of a page. */
const EXTENDED_MESSAGES_MAX = 64

export interface TokenCount {
  readonly seq: number
  readonly tokens: number
  /** Tokens of the message's reasoning, which are part of `tokens`. */
  readonly reasoningTokens: number
}

/**
 * The exact count of a message and of its reasoning, as the text `123 45`, for
 * `select ... from heddle.messages as message`; null if it was not counted yet. See {@link readCount}.
 *
 * A subquery and not a join: one index look-up for each returned row, whatever number the planner assumes. It finds the last
 * run that begins at the message or before; an element beyond its end is null.
 */
export function countedTokens(tx: Tx) {
  return tx`(
    select
      counted.tokens[message.seq - counted.seq + 1] || ' ' || coalesce(counted.reasoning[message.seq - counted.seq + 1], 0)
    from heddle.message_tokens as counted
    where counted.thread_id = message.thread_id and counted.seq <= message.seq
    order by counted.seq desc
    limit 1)`
}

/** Parses the text of {@link countedTokens}. */
export function readCount(counted: string): Omit<TokenCount, 'seq'> {
  const [tokens, reasoningTokens] = counted.split(' ')
  return { tokens: Number(tokens), reasoningTokens: Number(reasoningTokens) }
}

/**
 * Records exact token counts, unless the thread was erased. Existing counts stay, because the same text always has the same
 * count. If two transactions count the same messages at once, the longer run stays; counts that it hides are made again.
 *
 * @param counts in the order of `seq`
 */
export async function recordTokenCounts(
  tx: Tx,
  { threadId, counts }: { threadId: string; counts: readonly TokenCount[] },
): Promise<void> {
  if (counts.length === 0) return
  // Counts are beside the rows that they are of.
  const runs = await loadSharedRuns(tx, threadId)
  const isShared = ({ seq }: TokenCount) => runs.some(({ toSeq }) => seq <= toSeq)
  for (const { originId, afterSeq, toSeq } of runs) {
    await recordRuns(tx, { threadId: originId, counts: counts.filter(({ seq }) => seq > afterSeq && seq <= toSeq) })
  }
  await recordRuns(tx, { threadId, counts: runs.length === 0 ? counts : counts.filter((one) => !isShared(one)) })
}

async function recordRuns(
  tx: Tx,
  { threadId, counts }: { threadId: string; counts: readonly TokenCount[] },
): Promise<void> {
  const runs = runsOf(counts)
  const [first] = runs
  if (first === undefined) return
  const reasoning = tx`${reasoningOf(first)}::text::integer[]`
  await tx`
    with thread as materialized (select id from heddle.threads where id = ${threadId} for key share),
    -- A thread that grows message by message would have a row for each.
    extended as (
      update heddle.message_tokens as run
      set
        tokens = run.tokens || added.tokens,
        reasoning = case when run.reasoning is not null or added.reasoning is not null then
          coalesce(run.reasoning, array_fill(0, array[cardinality(run.tokens)]))
            || coalesce(added.reasoning, array_fill(0, array[cardinality(added.tokens)])) end
      from thread, (
        select ${first.seq}::bigint as seq, ${asArray(first.tokens)}::integer[] as tokens, ${reasoning} as reasoning) as added
      where run.thread_id = thread.id and run.seq + cardinality(run.tokens) = added.seq
        and cardinality(run.tokens) + cardinality(added.tokens) <= ${EXTENDED_MESSAGES_MAX}::integer
        and run.seq = (
          select seq from heddle.message_tokens
          where thread_id = ${threadId} and seq < ${first.seq} order by seq desc limit 1)
      returning run.seq
    )
    insert into heddle.message_tokens (thread_id, seq, tokens, reasoning)
    select thread.id, counted.seq, counted.tokens::integer[], counted.reasoning::integer[]
    from thread
    cross join unnest(
      ${asArray(runs.map(({ seq }) => seq))}::bigint[], ${asQuotedArray(runs.map(({ tokens }) => asArray(tokens)))}::text[],
      ${asQuotedArray(runs.map(reasoningOf))}::text[]
    ) as counted (seq, tokens, reasoning)
    where counted.seq <> ${first.seq} or not exists (select from extended)
    on conflict (thread_id, seq) do update set tokens = excluded.tokens, reasoning = excluded.reasoning
    where cardinality(excluded.tokens) > cardinality(message_tokens.tokens)`
}

interface Run {
  /** Of the first of its messages. */
  readonly seq: number
  readonly tokens: number[]
  readonly reasoning: number[]
}

/** Null for a run without reasoning, as most are. */
function reasoningOf({ reasoning }: Run): string | null {
  return reasoning.some((tokens) => tokens > 0) ? asArray(reasoning) : null
}

function runsOf(counts: readonly TokenCount[]): Run[] {
  const runs: Run[] = []
  for (const { seq, tokens, reasoningTokens } of counts) {
    const last = runs.at(-1)
    const isNext = last !== undefined && seq === last.seq + last.tokens.length && last.tokens.length < RUN_MESSAGES_MAX
    if (isNext) {
      last.tokens.push(tokens)
      last.reasoning.push(reasoningTokens)
    } else runs.push({ seq, tokens: [tokens], reasoning: [reasoningTokens] })
  }
  return runs
}
