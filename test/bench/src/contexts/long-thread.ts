import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import { countTokens, fingerprint, laneOf, threadIdOf, topOfTree } from '@heddle/core'
import { textOf } from '@heddle/test-support/samples/texts'
import type { Bench } from '../bench.js'

const DISTINCT_TEXTS = 1_000
/** The same as for messages that the prune stage receives in appends of a hundred. */
const COUNTS_PER_ROW = 100
/** Messages that the pipeline itself stores and settles at the end. */
const LAST_MESSAGES = 200
const HEADROOM_MS = 60_000
const SETTLE_DEADLINE_MS = 60_000

export interface LongThread {
  readonly agent: string
  readonly settings: PartialSettings
  readonly messages: number
  /** Additional messages that each compaction covers, as measured on a thread that the pipeline settled. */
  readonly messagesPerState: number
  /** The text of one state's summary. */
  readonly summary: string
}

/**
 * Creates a long thread in the state in which the pipeline would leave it: messages, their counts, and one state for each
 * range that a compaction covered. It uses SQL, because a million messages take too long to send; the newest messages go
 * through the pipeline, which has to build on the inserted rows.
 */
export async function makeLongThread(bench: Bench, name: string, thread: LongThread): Promise<void> {
  const { client } = bench
  await client.agents.put(thread.agent, { settings: thread.settings })
  // The first message creates the thread with all its rows.
  await client.messages.append({
    agent: thread.agent,
    thread: name,
    messages: [{ role: 'user', content: textOf(0) }],
    // Messages are a millisecond apart, and all must be in the past.
    startedAtMs: Date.now() - thread.messages - HEADROOM_MS,
  })
  await client.threads.waitUntilSettled(name, { deadlineMs: SETTLE_DEADLINE_MS })
  const count = thread.messages - LAST_MESSAGES
  await insertMessages(bench, threadIdOf(bench.projectId, name), count)
  await insertStates(bench, threadIdOf(bench.projectId, name), count, thread)
  await client.messages.append({
    agent: thread.agent,
    thread: name,
    messages: Array.from({ length: LAST_MESSAGES }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: textOf(index),
    })),
  })
  await client.threads.waitUntilSettled(name, { deadlineMs: SETTLE_DEADLINE_MS })
}

/** Messages after the first. Ids and codes are ascending, which is nearly true of consecutive real messages. */
export async function insertMessages({ sql, projectId }: Bench, threadId: string, count: number): Promise<void> {
  const texts = Array.from({ length: DISTINCT_TEXTS }, (_, index) => textOf(index))
  const tokens = texts.map(countTokens)
  await sql.begin(async (tx) => {
    await tx`create temporary table bench_texts (number int primary key, content text, tokens int) on commit drop`
    await tx`
      insert into bench_texts
      select (ordinality - 1)::int, content, tokens
      from unnest(${tx.array(texts)}::text[], ${tx.array(tokens)}::int[]) with ordinality as given (content, tokens)`
    await tx`
      insert into heddle.messages (
        project_id, thread_id, seq, id, code, role, content, ordered_at, ordinal, latest_at, received_at, tokens_estimate,
        fingerprint)
      select
        ${projectId}, ${threadId}, seq, ('01900000-0000-7000-8000-' || lpad(to_hex(seq), 12, '0'))::uuid,
        'z' || lpad(to_hex(seq), 8, '0'), case seq % 2 when 1 then 'user' else 'assistant' end, content,
        began_at + seq * interval '1 millisecond', 0, began_at + seq * interval '1 millisecond', now(), length(content) / 4,
        decode(md5(seq::text), 'hex')
      from generate_series(2, ${count}::bigint) as seq
      join bench_texts on number = seq % ${DISTINCT_TEXTS}
      cross join (select ordered_at as began_at from heddle.messages where thread_id = ${threadId} and seq = 1) as first
      order by seq`
    await tx`
      insert into heddle.message_tokens (project_id, thread_id, seq, tokens)
      select ${projectId}, ${threadId}, min(seq), array_agg(tokens order by seq)
      from generate_series(2, ${count}::bigint) as seq
      join bench_texts on number = seq % ${DISTINCT_TEXTS}
      group by seq / ${COUNTS_PER_ROW}
      order by 3`
    await tx`
      update heddle.stage_cursors
      set head_seq = ${count}, prune_seq = ${count}, summarize_seq = ${count}, embed_seq = ${count},
        tokens_estimate = tokens_estimate + ${count * 60}, last_message_at = (
          select ordered_at from heddle.messages where thread_id = ${threadId} and seq = ${count})
      where thread_id = ${threadId}`
    // Otherwise the embed stage would compute their vectors, which builds do not use.
    await tx`update heddle.vector_threads set to_seq = ${count} where thread_id = ${threadId}`
  })
  await sql`vacuum (analyze) heddle.messages, heddle.message_tokens`
}

const TOP_MESSAGES = 5
const BOTTOM_MESSAGES = 5

async function insertStates({ sql, projectId }: Bench, threadId: string, count: number, thread: LongThread) {
  const { messagesPerState, summary, settings } = thread
  const lane = laneOf(mergeSettings(settings))
  await sql`
    insert into heddle.context_states (
      project_id, id, thread_id, lane, strategy, clear_epoch, generation, replaces, status, point_at, point_ordinal,
      point_id, head_seq, top_ids, covered_from_at, covered_from_ordinal, covered_from_id, covered_to_at,
      covered_to_ordinal, covered_to_id, covered_count, covered_tokens, summary, summary_tokens, summarizer, ready_at)
    select
      ${projectId}, md5(${threadId} || generation)::uuid, ${threadId}, ${lane.key}, ${lane.strategy.name}, 0, generation,
      case when generation > 1 then md5(${threadId} || (generation - 1))::uuid end, 'ready',
      point.ordered_at, point.ordinal, point.id, point.seq,
      (select array_agg(id order by seq) from heddle.messages where thread_id = ${threadId} and seq <= ${TOP_MESSAGES}),
      opening.ordered_at, opening.ordinal, opening.id, ending.ordered_at, ending.ordinal, ending.id,
      ending.seq - ${TOP_MESSAGES}, ending.seq * 60, ${summary}, ${countTokens(summary)}, 'extractive', now()
    from generate_series(1, ${count}::bigint / ${messagesPerState}) as generation
    join heddle.messages as point on point.thread_id = ${threadId} and point.seq = generation * ${messagesPerState}
    join heddle.messages as ending
      on ending.thread_id = ${threadId} and ending.seq = generation * ${messagesPerState} - ${BOTTOM_MESSAGES}
    join heddle.messages as opening on opening.thread_id = ${threadId} and opening.seq = ${TOP_MESSAGES + 1}`
  await insertLeaves({ sql, projectId }, threadId, Math.floor(count / messagesPerState), thread)
  await sql`vacuum (analyze) heddle.context_states`
}

/** About as many messages as fill a leaf of 8,000 tokens. */
const LEAF_MESSAGES = 120
const PART_CHARACTERS = 2_000

/** The leaves of the last state and the summaries of all parts: otherwise the first real compaction would make them all. */
async function insertLeaves(
  { sql, projectId }: Pick<Bench, 'sql' | 'projectId'>,
  threadId: string,
  generations: number,
  { messagesPerState, summary, settings }: LongThread,
) {
  const covered = generations * messagesPerState - BOTTOM_MESSAGES - TOP_MESSAGES
  const hashes = Array.from({ length: Math.floor(covered / LEAF_MESSAGES) }, (_, place) => fingerprint(`leaf ${place}`))
  const nodes = topOfTree(hashes, laneOf(mergeSettings(settings)).tree)
  const parts = new Set(hashes)
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    parts.add(node.hash)
    nodes.push(...node.children)
  }
  await sql`
    insert into heddle.summary_leaves (project_id, thread_id, state_id, place, hash, end_at, end_ordinal, end_id)
    select
      ${projectId}, ${threadId}, md5(${threadId} || ${generations}::int)::uuid, ordinality - 1, decode(digits, 'hex'),
      message.ordered_at, message.ordinal, message.id
    from unnest(${sql.array(hashes)}::text[]) with ordinality as leaf (digits, ordinality)
    join heddle.messages as message
      on message.thread_id = ${threadId} and message.seq = ${TOP_MESSAGES} + ordinality * ${LEAF_MESSAGES}`
  await sql`
    insert into heddle.summary_parts (project_id, thread_id, hash, summarizer, summary)
    select ${projectId}, ${threadId}, decode(digits, 'hex'), 'extractive', ${summary.slice(0, PART_CHARACTERS)}
    from unnest(${sql.array([...parts])}::text[]) as digits`
}
