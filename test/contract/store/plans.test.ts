import { threadIdOf } from '@heddle/core'
import {
  advanceCursor,
  appendMessages,
  countMessages,
  existingMessages,
  findArchiveEntry,
  findMessagesByCode,
  findThreadsByCode,
  listMessages,
  loadContext,
  loadEventsAfter,
  loadMessage,
  loadMessagesBySeq,
  loadStates,
  loadThread,
  loadWindow,
  readArchiveContent,
  type Tx,
} from '@heddle/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { append, appendAll, freshStore, newId, PROJECT, prepared, RECEIVED_AT_MS, type TestStore } from './support.js'

let database: TestStore
const threadId = threadIdOf(PROJECT, 'thread 1')

const THREAD_MESSAGES = 2_000

/** A thread of 2,000 messages beside another, on a table of which the server has no statistics yet: the planner's worst case. */
beforeAll(async () => {
  database = await freshStore()
  for (const thread of ['thread 1', 'thread 2']) {
    const messages = Array.from({ length: THREAD_MESSAGES }, (_, index) =>
      prepared({}, { orderedAtMs: RECEIVED_AT_MS + index }),
    )
    await appendAll(database.store, [append(messages, { thread })])
  }
})
afterAll(() => database.drop())

/** Runs a query in a transaction and returns how many rows of each table the server read for one run. */
async function rowsRead(query: (tx: Tx) => Promise<unknown>): Promise<Record<string, number>> {
  const runs = 7
  return await database.store.inProject(PROJECT, async (tx) => {
    const before = await rowsReadSoFar(tx)
    // Several times: from the sixth on, a prepared statement may get a plan that knows no parameters.
    for (let run = 0; run < runs; run++) await query(tx)
    const after = await rowsReadSoFar(tx)
    return Object.fromEntries([...after].map(([table, rows]) => [table, (rows - (before.get(table) ?? 0)) / runs]))
  })
}

/** The server counts for a connection, earlier transactions included. */
async function rowsReadSoFar(tx: Tx): Promise<Map<string, number>> {
  const rows = await tx<{ relname: string; rowsRead: number }[]>`
    select relname, seq_tup_read + coalesce(idx_tup_fetch, 0) as rows_read
    from pg_stat_xact_user_tables where schemaname = 'heddle'`
  return new Map(rows.map(({ relname, rowsRead }) => [relname, rowsRead]))
}

const queries: Record<string, (tx: Tx) => Promise<unknown>> = {
  loadWindow: (tx) => loadWindow(tx, { threadId, sinceMs: RECEIVED_AT_MS + 900, afterSeq: 0, limit: 10 }),
  countMessages: (tx) => countMessages(tx, { threadId, sinceMs: RECEIVED_AT_MS + 900, afterSeq: 3 }),
  loadMessagesBySeq: (tx) => loadMessagesBySeq(tx, { threadId, afterSeq: 50, limit: 10 }),
  listMessages: (tx) => listMessages(tx, { threadId, afterSeq: 50, limit: 10 }),
  'loadMessage by id': (tx) => loadMessage(tx, { threadId, id: newId() }),
  'loadMessage by code': (tx) => loadMessage(tx, { threadId, code: 'abcdefgh' }),
  existingMessages: (tx) => existingMessages(tx, { threadId, ids: [newId(), newId()] }),
  findMessagesByCode: (tx) => findMessagesByCode(tx, threadId, 'abc'),
}

describe('queries on a table that grows', () => {
  it.each(Object.keys(queries))('%s reads no more than it returns and a few', async (name) => {
    const query = queries[name]
    if (query === undefined) throw new Error(`no query ${name}`)
    expect((await rowsRead(query))['messages']).toBeLessThan(60)
  })

  it('appendMessages looks up what it was given and nothing else', async () => {
    const read = await rowsRead((tx) => {
      const appends = [append([prepared(), prepared()], { thread: 'thread 1' })]
      return appendMessages(tx, { projectId: PROJECT, receivedAtMs: RECEIVED_AT_MS, appends })
    })
    expect(read['messages']).toBeLessThan(10)
  })

  it('the others read single rows', async () => {
    const read = await rowsRead(async (tx) => {
      await loadThread(tx, { threadId })
      await loadStates(tx, { threadId, lane: 'sandwich', clearEpoch: 0 })
      await findThreadsByCode(tx, 'abc')
      await findArchiveEntry(tx, { threadId, messageId: newId() })
      await readArchiveContent(tx, new Uint8Array(32))
      await loadContext(tx, { id: newId() })
      await loadEventsAfter(tx, { projectId: PROJECT, number: 0, limit: 10 })
      await advanceCursor(tx, { threadId, stage: 'prune', fromSeq: 1, toSeq: 2 })
    })
    expect(Math.max(...Object.values(read))).toBeLessThan(10)
  })
})
