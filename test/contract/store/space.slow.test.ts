import { appendEvents, appendMessages, EVENTS_KEPT_WHOLE, TableShrinker } from '@heddle/store'
import postgres from 'postgres'
import { expect, it, onTestFinished } from 'vitest'
import { said } from '../search/support.js'
import { append, appendOne, newId, PROJECT, prepared, storeOfTests } from './support.js'

const database = storeOfTests()
const { signal } = new AbortController()

function owner(): postgres.Sql {
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  onTestFinished(() => sql.end())
  return sql
}

async function bytesOf(sql: postgres.Sql, table: string): Promise<number> {
  const [row] = await sql<
    { bytes: number }[]
  >`select pg_total_relation_size(${`heddle.${table}`}::regclass)::float8 as bytes`
  return row?.bytes ?? 0
}

/** The statistics of the server follow writes within a second. */
async function untilSmall(
  shrink: () => Promise<number>,
  bytes: () => Promise<number>,
  bytesMax: number,
): Promise<void> {
  const look = async () => {
    await shrink()
    return await bytes()
  }
  await expect.poll(look, { timeout: 30_000, interval: 300 }).toBeLessThan(bytesMax)
}

it('the index of words shrinks to what it holds once nothing is written to it, and still finds each word', async () => {
  const sql = owner()
  const words = () => Array.from({ length: 300 }, () => Math.random().toString(36).slice(2)).join(' ')
  for (let thread = 0; thread < 12; thread++) {
    const messages = Array.from({ length: 20 }, () => prepared({ content: words() }))
    await said(database, { agent: 'shrunk', thread: `shrunk ${thread}` }, messages)
  }
  const [held] = await sql<{ bytes: number }[]>`
    select sum(octet_length(postings))::float8 as bytes from heddle.posting_blocks`
  const live = held?.bytes ?? 0
  expect(await bytesOf(sql, 'posting_blocks')).toBeGreaterThan(1.6 * live)
  const shrinker = new TableShrinker(database.store)
  await untilSmall(
    () => shrinker.shrink(signal),
    () => bytesOf(sql, 'posting_blocks'),
    1.35 * live,
  )
})

it('indexes of messages of many threads that grew at once are packed, and an append finds repeats as before', async () => {
  const sql = owner()
  const threads = Array.from({ length: 60 }, () => newId())
  const first = prepared()
  await appendOne(database.store, append([first], { thread: threads[0] ?? '' }))
  for (let round = 0; round < 80; round++) {
    const appends = threads.map((thread) => append([prepared()], { thread }))
    await database.store.inProject(PROJECT, (tx) => appendMessages(tx, { projectId: PROJECT, appends }))
  }
  const bytes = async () => {
    const [row] = await sql<{ bytes: number }[]>`select pg_relation_size('heddle.messages_code')::float8 as bytes`
    return row?.bytes ?? 0
  }
  const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from heddle.messages`
  const held = (row?.count ?? 0) * 44
  expect(await bytes()).toBeGreaterThan(1.3 * held)
  const shrinker = new TableShrinker(database.store)
  await untilSmall(() => shrinker.shrink(signal), bytes, 1.15 * held)
  expect(await appendOne(database.store, append([first], { thread: threads[0] ?? '' }))).toMatchObject({ repeated: 1 })
})

it('of old events of a thread that stores messages, the log keeps the last', async () => {
  const { threadId } = await appendOne(database.store, append([prepared()], { thread: newId() }))
  const add = (headSeq: number, others: number) =>
    database.store.inProject(PROJECT, async (tx) => {
      await tx`update heddle.projects set event_number = event_number + ${others} where project_id = ${PROJECT}`
      await appendEvents(tx, { projectId: PROJECT, events: [{ topic: 'message.stored', threadId, headSeq }] })
    })
  const kept = async () => {
    const rows = await database.store.inProject(
      PROJECT,
      (tx) => tx<{ headSeq: number }[]>`
        select head_seq from heddle.events where thread_id = ${threadId} order by number`,
    )
    return rows.map(({ headSeq }) => headSeq)
  }
  for (const headSeq of [1, 2, 3]) await add(headSeq, 0)
  expect(await kept()).toEqual([1, 2, 3])
  await add(5, EVENTS_KEPT_WHOLE)
  expect(await kept()).toEqual([5])
  // Those of a thread that stopped go once enough others followed.
  for (const headSeq of [6, 7, 8]) await add(headSeq, 0)
  const other = await appendOne(database.store, append([prepared()], { thread: newId() }))
  const events = Array.from({ length: EVENTS_KEPT_WHOLE }, (_, index) => ({
    topic: 'message.stored' as const,
    threadId: other.threadId,
    headSeq: index + 1,
  }))
  await database.store.inProject(PROJECT, (tx) => appendEvents(tx, { projectId: PROJECT, events }))
  const more = { projectId: PROJECT, events: events.slice(0, 4) }
  await database.store.inProject(PROJECT, (tx) => appendEvents(tx, more))
  expect(await kept()).toEqual([8])
  // One that comes late does not replace what says more.
  await add(4, EVENTS_KEPT_WHOLE)
  expect(await kept()).toEqual([8, 4])
})
