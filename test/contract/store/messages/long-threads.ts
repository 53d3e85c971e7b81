import { type Position, threadIdOf } from '@heddle/core'
import postgres from 'postgres'
import { append, appendOne, PROJECT, prepared, RECEIVED_AT_MS, type TestStore } from '../support.js'

/** The position of the message with a sequence number in a thread of {@link fillThread}. */
export function positionOf(seq: number): Position {
  const id = `01900000-0000-7000-8000-${seq.toString(16).padStart(12, '0')}`
  return { orderedAtMs: RECEIVED_AT_MS + seq, ordinal: 0, id }
}

/**
 * Creates a thread of this many messages by SQL, a millisecond apart, with their counts, since a million appends take minutes.
 *
 * @param statistics `stale`: the planner keeps its old statistics of the tables, as during an import
 * @returns its id
 */
export async function fillThread(
  database: TestStore,
  thread: string,
  count: number,
  statistics: 'fresh' | 'stale' = 'fresh',
): Promise<string> {
  await appendOne(database.store, append([prepared({}, { orderedAtMs: RECEIVED_AT_MS })], { thread }))
  const threadId = threadIdOf(PROJECT, thread)
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  try {
    if (statistics === 'stale') await stopAutovacuum(sql)
    await sql`
      insert into heddle.messages (
        project_id, thread_id, seq, id, code, role, content, ordered_at, ordinal, latest_at, received_at, tokens_estimate,
        fingerprint)
      select
        ${PROJECT}, ${threadId}, seq, ('01900000-0000-7000-8000-' || lpad(to_hex(seq), 12, '0'))::uuid,
        'z' || lpad(to_hex(seq), 8, '0'), case seq % 2 when 1 then 'user' else 'assistant' end,
        'message ' || seq || repeat(' and some words', 6), at, 0, at, now(), 30, '\\x00'
      from (
        select seq, ${new Date(RECEIVED_AT_MS).toISOString()}::timestamptz + seq * interval '1 millisecond' as at
        from generate_series(2, ${count}::bigint) as seq) as numbered`
    await sql`
      insert into heddle.message_tokens (project_id, thread_id, seq, tokens)
      select ${PROJECT}, ${threadId}, seq, array_fill(30, array[least(100, ${count} - seq + 1)::int])
      from generate_series(2, ${count}::bigint, 100) as seq`
    await sql`
      update heddle.stage_cursors set
        head_seq = ${count}, prune_seq = ${count}, summarize_seq = ${count}, embed_seq = ${count},
        tokens_estimate = ${count * 30},
        last_message_at = (select ordered_at from heddle.messages where thread_id = ${threadId} and seq = ${count})
      where thread_id = ${threadId}`
    // As autovacuum would at some time: plans must not depend on it.
    if (statistics === 'fresh') await sql`analyze heddle.messages, heddle.message_tokens, heddle.stage_cursors`
  } finally {
    await sql.end()
  }
  return threadId
}

async function stopAutovacuum(sql: postgres.Sql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select oid::regclass::text as name from pg_class
    where relnamespace = 'heddle'::regnamespace and relkind = 'r' and relname ~ '^message'`
  for (const { name } of tables) await sql.unsafe(`alter table ${name} set (autovacuum_enabled = false)`)
}
