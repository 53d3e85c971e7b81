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

/*
 * Two thousand messages in forty threads: enough that reading a whole table costs more than any look-up, on statistics as
 * a database has them in use.
 */
beforeAll(async () => {
  database = await freshStore()
  for (let batch = 0; batch < 4; batch++) {
    const appends = Array.from({ length: 40 }, (_, thread) =>
      append(
        Array.from({ length: 25 }, (_, index) => prepared({}, { orderedAtMs: RECEIVED_AT_MS + batch * 100 + index })),
        { thread: `thread ${thread}` },
      ),
    )
    await appendAll(database.store, appends)
  }
})
afterAll(() => database.drop())

/** Runs a query in a transaction and returns the tables that it read from end to end. */
async function tablesScanned(query: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  return await database.store.inProject(PROJECT, async (tx) => {
    const before = await scansSoFar(tx)
    // Several times: from the sixth on, a prepared statement may get a plan that knows no parameters.
    for (let run = 0; run < 7; run++) await query(tx)
    const after = await scansSoFar(tx)
    return [...after].filter(([table, scans]) => scans > (before.get(table) ?? 0)).map(([table]) => table)
  })
}

/** The server counts for a connection, earlier transactions included. */
async function scansSoFar(tx: Tx): Promise<Map<string, number>> {
  const rows = await tx<{ relname: string; seqScan: number }[]>`
    select relname, seq_scan from pg_stat_xact_user_tables where schemaname = 'heddle' and seq_scan > 0`
  return new Map(rows.map(({ relname, seqScan }) => [relname, seqScan]))
}

const queries: Record<string, (tx: Tx) => Promise<unknown>> = {
  loadWindow: (tx) => loadWindow(tx, { threadId, sinceMs: RECEIVED_AT_MS + 50, afterSeq: 0, limit: 10 }),
  countMessages: (tx) => countMessages(tx, { threadId, sinceMs: RECEIVED_AT_MS + 50, afterSeq: 3 }),
  loadMessagesBySeq: (tx) => loadMessagesBySeq(tx, { threadId, afterSeq: 50, limit: 10 }),
  listMessages: (tx) => listMessages(tx, { threadId, afterSeq: 50, limit: 10 }),
  'loadMessage by id': (tx) => loadMessage(tx, { threadId, id: newId() }),
  'loadMessage by code': (tx) => loadMessage(tx, { threadId, code: 'abcdefgh' }),
  existingMessages: (tx) => existingMessages(tx, { threadId, ids: [newId(), newId()] }),
  findMessagesByCode: (tx) => findMessagesByCode(tx, threadId, 'abc'),
}

describe('queries on a table that grows', () => {
  it.each(Object.keys(queries))('%s finds its rows by an index', async (name) => {
    const query = queries[name]
    if (query === undefined) throw new Error(`no query ${name}`)
    expect(await tablesScanned(query)).not.toContain('messages')
  })

  it('appends look their ids up by an index', async () => {
    const scanned = await tablesScanned((tx) => {
      const appends = [append([prepared(), prepared()], { thread: 'thread 1' })]
      return appendMessages(tx, { projectId: PROJECT, receivedAtMs: RECEIVED_AT_MS, appends })
    })
    expect(scanned).not.toContain('messages')
  })

  it('none of the others needs to read a table from end to end', async () => {
    const others = async (tx: Tx) => {
      // Where tables are next to empty, reading them whole is right; this shows that there is another way.
      await tx`select set_config('enable_seqscan', 'off', true)`
      await loadThread(tx, { threadId })
      await loadStates(tx, { threadId, lane: 'sandwich', clearEpoch: 0 })
      await findThreadsByCode(tx, 'abc')
      await findArchiveEntry(tx, { threadId, messageId: newId() })
      await readArchiveContent(tx, new Uint8Array(32))
      await loadContext(tx, { id: newId() })
      await loadEventsAfter(tx, { projectId: PROJECT, number: 0, limit: 10 })
      await advanceCursor(tx, { threadId, stage: 'prune', fromSeq: 1, toSeq: 2 })
    }
    expect(await tablesScanned(others)).toEqual([])
  })
})
