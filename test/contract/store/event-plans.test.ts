import { threadIdOf } from '@heddle/core'
import { appendEvents, type NewEvent, storeEvents, type Tx } from '@heddle/store'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { append, appendAll, newId, PROJECT, prepared, storeOfTests } from './support.js'

const database = storeOfTests()
const threadId = threadIdOf(PROJECT, 'cloth')
const RUNS = 7

function contextBuilt(): NewEvent {
  return { topic: 'context.built', threadId, subjectId: newId() }
}

async function eventsReadSoFar(tx: Tx): Promise<number> {
  const [row] = await tx<{ rowsRead: number }[]>`
    select seq_tup_read + coalesce(idx_tup_fetch, 0) as rows_read
    from pg_stat_xact_user_tables where schemaname = 'heddle' and relname = 'events'`
  return row?.rowsRead ?? 0
}

/** As autovacuum would at some time. */
async function analyzeEvents(): Promise<void> {
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  await sql`analyze heddle.events`
  await sql.end()
}

test('an append of events looks up only events of the same subjects, however long the log is', async () => {
  const { store } = database
  await appendAll(store, [append([prepared()])])
  await storeEvents(store, { projectId: PROJECT, events: Array.from({ length: 3_000 }, contextBuilt) })
  await analyzeEvents()
  const read = await store.inProject(PROJECT, async (tx) => {
    const before = await eventsReadSoFar(tx)
    for (let run = 0; run < RUNS; run++) {
      await appendEvents(tx, { projectId: PROJECT, events: [contextBuilt(), contextBuilt()] })
    }
    return (await eventsReadSoFar(tx)) - before
  })
  expect(read / RUNS).toBeLessThan(5)
})

test('an event of a subject is appended once', async () => {
  const { store } = database
  const event = contextBuilt()
  const appendOnce = () => storeEvents(store, { projectId: PROJECT, events: [event] })
  await appendAll(store, [append([prepared()])])
  expect(await appendOnce()).toHaveLength(1)
  expect(await appendOnce()).toHaveLength(0)
})
