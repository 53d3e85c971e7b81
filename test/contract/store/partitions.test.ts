import type { CompactionState } from '@heddle/core'
import {
  appendMessages,
  countMessages,
  existingMessages,
  isRepeat,
  listHistory,
  loadCoveredPage,
  loadMessage,
  loadMessagesBySeq,
  loadUncovered,
  type Tx,
} from '@heddle/store'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillThread, positionOf } from './messages/long-threads.js'
import {
  append,
  appendAll,
  appendOne,
  freshStore,
  OTHER_PROJECT,
  PROJECT,
  prepared,
  RECEIVED_AT_MS,
  type TestStore,
} from './support.js'

const PARTITIONS = 4
const MESSAGES = 200

let database: TestStore
let sql: postgres.Sql
beforeAll(async () => {
  database = await freshStore()
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
  await partition()
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

/**
 * Replaces `heddle.messages` by a partitioned table, with all its constraints and grants from the migrations. Postgres
 * refuses keys without the partition key.
 */
async function partition(): Promise<void> {
  await sql.begin(async (tx) => {
    const keys = await tx<{ name: string; columns: string }[]>`
      select conname as name, conkey::text as columns from pg_constraint
      where conrelid = 'heddle.messages'::regclass and contype in ('p', 'u')`
    const [policy] = await tx<{ using: string; check: string }[]>`
      select qual as using, with_check as check from pg_policies where schemaname = 'heddle' and tablename = 'messages'`
    const grants = await tx<{ right: string }[]>`
      select privilege_type as right from information_schema.role_table_grants
      where table_schema = 'heddle' and table_name = 'messages' and grantee = 'heddle_app'`
    expect(keys.length).toBeGreaterThan(1)

    await tx.unsafe('alter table heddle.messages rename to plain_messages')
    for (const { name } of keys) {
      await tx.unsafe(`alter table heddle.plain_messages rename constraint ${name} to plain_${name}`)
    }
    await tx.unsafe(
      'create table heddle.messages (like heddle.plain_messages including all) partition by hash (thread_id)',
    )
    for (let remainder = 0; remainder < PARTITIONS; remainder++) {
      await tx.unsafe(`create table heddle.messages_${remainder} partition of heddle.messages
        for values with (modulus ${PARTITIONS}, remainder ${remainder})`)
      // New tables in the schema are granted to services, and a partition has no policy of its own.
      await tx.unsafe(`revoke all on heddle.messages_${remainder} from heddle_app`)
    }
    for (const { name, columns } of keys) {
      const [made] = await tx<{ name: string }[]>`
        select conname as name from pg_constraint
        where conrelid = 'heddle.messages'::regclass and conkey::text = ${columns}`
      await tx.unsafe(`alter table heddle.messages rename constraint ${made?.name} to ${name}`)
    }
    await tx.unsafe(`
      alter table heddle.messages enable row level security;
      alter table heddle.messages force row level security;
      create policy own_project_only on heddle.messages to heddle_app using (${policy?.using}) with check (${policy?.check});
      grant ${grants.map(({ right }) => right).join(', ')} on heddle.messages to heddle_app;
      drop table heddle.plain_messages`)
  })
}

/** The partitions of which a query reads any block. */
async function touched(query: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  const blocks = async (tx: Tx) => {
    const rows = await tx<{ name: string; blocks: number }[]>`
      select coalesce(index.indrelid::regclass, class.oid::regclass)::text as name,
        sum(pg_stat_get_xact_blocks_fetched(class.oid))::bigint as blocks
      from pg_class as class left join pg_index as index on index.indexrelid = class.oid
      where class.relnamespace = 'heddle'::regnamespace and class.relname like 'messages\\_%' and class.relkind in ('r', 'i')
      group by 1`
    return new Map(rows.map(({ name, blocks }) => [name, blocks]))
  }
  return await database.store.inProject(PROJECT, async (tx) => {
    // The planner reads every partition, until it uses a generic plan: from the sixth execution on, at most.
    for (let run = 0; run < 7; run++) await query(tx)
    const before = await blocks(tx)
    for (let run = 0; run < 3; run++) await query(tx)
    const after = await blocks(tx)
    return [...after].filter(([name, count]) => count > (before.get(name) ?? 0)).map(([name]) => name)
  })
}

const state: CompactionState = {
  point: positionOf(MESSAGES - 20),
  headSeq: MESSAGES - 20,
  topIds: [positionOf(2).id],
  covered: { from: positionOf(5), to: positionOf(MESSAGES - 20) },
  summary: 'so far',
  summaryTokens: 2,
  prunings: new Map(),
}

describe('a table of messages that is partitioned by thread', () => {
  it('accepts appends of many threads at once, and detects repeats and conflicts', async () => {
    const messages = Array.from({ length: 12 }, (_, index) => prepared({ content: `text ${index}` }))
    const appends = messages.map((message, index) => append([message, prepared()], { thread: `many ${index}` }))
    expect((await appendAll(database.store, appends)).map(({ stored }) => stored)).toEqual(appends.map(() => 2))
    expect((await appendAll(database.store, appends)).map(({ repeated }) => repeated)).toEqual(appends.map(() => 2))
    const used = messages[0]?.input.id ?? ''
    const [refused] = await appendAll(database.store, [append([prepared({ id: used })], { thread: 'many 0' })])
    expect(refused?.error).toMatchObject({ code: 'CONFLICT', field: 'messages.0.id' })
    const [partitions] = await sql`select count(distinct tableoid)::integer as used from heddle.messages`
    expect(partitions?.['used']).toBeGreaterThan(1)
  })

  it('detects a repeat of messages that were assumed to be new', async () => {
    const repeated = append([prepared()], { thread: 'taken for new' })
    await appendOne(database.store, repeated)
    const again = database.store.inProject(PROJECT, (tx) =>
      appendMessages(tx, { projectId: PROJECT, appends: [repeated], assumeNew: true }),
    )
    expect(isRepeat(await again.catch((error: unknown) => error))).toBe(true)
  })

  it('is read and written only in the partition of the thread', async () => {
    const threadId = await fillThread(database, 'pruned', MESSAGES)
    await fillThread(database, 'beside', MESSAGES)
    const [home] = await sql<{ name: string }[]>`
      select tableoid::regclass::text as name from heddle.messages where thread_id = ${threadId} limit 1`
    const cleared = { threadId, clearedSeq: 0 }
    const queries: Record<string, (tx: Tx) => Promise<unknown>> = {
      append: (tx) => {
        const appends = [append([prepared(), prepared()], { thread: 'pruned' })]
        return appendMessages(tx, { projectId: PROJECT, appends })
      },
      'look-up': (tx) => existingMessages(tx, { threadId, ids: [positionOf(9).id, positionOf(10).id] }),
      window: (tx) => loadUncovered(tx, { ...cleared, state: null, keep: 'newest', limit: 20 }),
      uncovered: (tx) => loadUncovered(tx, { ...cleared, state, keep: 'newest' }),
      covered: (tx) => loadCoveredPage(tx, { ...cleared, state, limit: 20 }),
      counts: (tx) => countMessages(tx, { threadId, sinceMs: RECEIVED_AT_MS + 50, afterSeq: 0 }),
      stage: (tx) => loadMessagesBySeq(tx, { threadId, afterSeq: 50, limit: 20 }),
      history: (tx) => listHistory(tx, { threadId, afterSeq: 50, limit: 20, order: 'asc' }),
      message: (tx) => loadMessage(tx, { threadId, id: positionOf(9).id }),
    }
    for (const [name, query] of Object.entries(queries)) {
      expect([name, await touched(query)]).toEqual([name, [home?.name]])
    }
  })

  it('shows no rows of a project to another, and its partitions to no role of a service', async () => {
    await appendOne(database.store, append([prepared()], { thread: 'secret' }))
    const rows = (projectId: string) =>
      database.store.inProject(projectId, (tx) => tx`select count(*)::integer as count from heddle.messages`)
    expect((await rows(PROJECT))[0]?.['count']).toBeGreaterThan(0)
    expect((await rows(OTHER_PROJECT))[0]?.['count']).toBe(0)
    await expect(database.store.inProject(PROJECT, (tx) => tx`select from heddle.messages_0`)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
  })
})
