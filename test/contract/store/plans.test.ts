import { type CompactionState, type Position, threadIdOf } from '@heddle/core'
import {
  appendMessages,
  countMessages,
  countTurns,
  countWindow,
  existingMessages,
  findArchiveEntry,
  findMessagesByCode,
  findThreads,
  insertPrunings,
  insertState,
  listHistory,
  listMessages,
  loadContext,
  loadCoveredPage,
  loadEventsAfter,
  loadLatestStates,
  loadMessage,
  loadMessagesBySeq,
  loadPruningsOf,
  loadThread,
  loadThreadSizes,
  loadUncovered,
  type NewContextState,
  readArchiveContent,
  readArchived,
  recordTokenCounts,
  redoCompactions,
  settlePrune,
  type Tx,
  undoCompactions,
} from '@heddle/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodesOf, plansOf } from './plans-of.js'
import { append, appendAll, freshStore, newId, PROJECT, prepared, RECEIVED_AT_MS, type TestStore } from './support.js'

let database: TestStore
const threadId = threadIdOf(PROJECT, 'thread 1')
/** A message of it. */
let undoneId = ''

const THREAD_MESSAGES = 2_000

/** A thread of 2,000 messages beside another, on a table without statistics: the planner's worst case. */
beforeAll(async () => {
  database = await freshStore()
  for (const thread of ['thread 2', 'thread 1']) {
    const messages = Array.from({ length: THREAD_MESSAGES }, (_, index) =>
      prepared({}, { orderedAtMs: RECEIVED_AT_MS + index }),
    )
    await appendAll(database.store, [append(messages, { thread })])
    undoneId = messages[100]?.input.id ?? ''
  }
})
afterAll(() => database.drop())

/** Runs a query in a transaction and returns the number of rows of each table that the server read for it. */
async function rowsRead(query: (tx: Tx) => Promise<unknown>): Promise<Record<string, number>> {
  const runs = 7
  return await database.store.inProject(PROJECT, async (tx) => {
    const before = await rowsReadSoFar(tx)
    // Several times: from the sixth execution on, a prepared statement may get a generic plan.
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

const positionAt = (index: number): Position => ({ orderedAtMs: RECEIVED_AT_MS + index, ordinal: 0, id: newId() })

/** Covers all but the last 20 messages of the thread. */
const state: CompactionState = {
  point: positionAt(THREAD_MESSAGES - 20),
  headSeq: THREAD_MESSAGES - 20,
  topIds: [],
  covered: { from: positionAt(5), to: positionAt(THREAD_MESSAGES - 20) },
  summary: 'so far',
  summaryTokens: 2,
  prunings: new Map(),
}

const queries: Record<string, (tx: Tx) => Promise<unknown>> = {
  'loadUncovered from the start': (tx) =>
    loadUncovered(tx, { threadId, clearedSeq: 0, state: null, keep: 'oldest', limit: 10 }),
  'loadUncovered from the end': (tx) =>
    loadUncovered(tx, { threadId, clearedSeq: 0, state: null, keep: 'newest', limit: 10 }),
  'loadUncovered past a summary': (tx) => loadUncovered(tx, { threadId, clearedSeq: 0, state, keep: 'newest' }),
  loadCoveredPage: (tx) => loadCoveredPage(tx, { threadId, clearedSeq: 0, state, limit: 10 }),
  countMessages: (tx) => countMessages(tx, { threadId, sinceMs: RECEIVED_AT_MS + 900, afterSeq: 3 }),
  'countWindow with a clear': (tx) =>
    countWindow(tx, {
      threadId,
      rollingWindow: 1,
      lastClearedAtMs: RECEIVED_AT_MS + 400,
      clearedSeq: 300,
      nowMs: RECEIVED_AT_MS + 1_900,
      restoredCount: 1,
    }),
  countTurns: (tx) => countTurns(tx, { threadId }),
  'countTurns before a position': (tx) => countTurns(tx, { threadId, before: positionAt(900) }),
  loadMessagesBySeq: (tx) => loadMessagesBySeq(tx, { threadId, afterSeq: 50, limit: 10 }),
  listMessages: (tx) => listMessages(tx, { threadId, afterSeq: 50, limit: 10 }),
  listHistory: (tx) => listHistory(tx, { threadId, afterSeq: 50, limit: 10, order: 'desc' }),
  'loadMessage by id': (tx) => loadMessage(tx, { threadId, id: newId() }),
  'loadMessage by code': (tx) => loadMessage(tx, { threadId, code: 'abcdefgh' }),
  existingMessages: (tx) => existingMessages(tx, { threadId, ids: [newId(), newId()] }),
  findMessagesByCode: (tx) => findMessagesByCode(tx, threadId, 'abc'),
}

function newState(thread: string, generation: number): NewContextState {
  const fields = { lane: 'long', strategy: 'sandwich', clearEpoch: 0, replaces: null, status: 'ready' } as const
  const covered = { coveredFrom: null, coveredTo: null, coveredCount: 0, coveredTokens: 0 }
  const summary = { summary: null, summaryTokens: 0, summarizer: null }
  const point = { point: positionAt(generation), headSeq: generation, topIds: [] }
  return { id: newId(), threadId: thread, generation, ...fields, ...covered, ...summary, ...point }
}

describe('queries on a table that grows', () => {
  it.each(Object.keys(queries))('%s reads few more rows than it returns', async (name) => {
    const query = queries[name]
    if (query === undefined) throw new Error(`no query ${name}`)
    expect((await rowsRead(query))['messages']).toBeLessThan(60)
  })

  it('loadThreadSizes reads each message and each count once', async () => {
    const plans = await plansOf(database.store, PROJECT, async (tx) => {
      const counts = Array.from({ length: THREAD_MESSAGES }, (_, index) => ({
        seq: index + 1,
        tokens: 3,
        reasoningTokens: 0,
      }))
      await recordTokenCounts(tx, { threadId, counts })
      const sizes = await loadThreadSizes(tx, { threadId })
      expect(sizes).toMatchObject({ tokens: 3 * THREAD_MESSAGES, uncounted: sizes.messages - THREAD_MESSAGES })
    })
    const compared = plans.flatMap(nodesOf).map((node) => node['Rows Removed by Join Filter'] ?? 0)
    expect(Math.max(...compared)).toBeLessThan(THREAD_MESSAGES)
  })

  it('appendMessages looks up only the rows of its input', async () => {
    const read = await rowsRead((tx) => {
      const appends = [append([prepared(), prepared()], { thread: 'thread 1' })]
      return appendMessages(tx, { projectId: PROJECT, appends })
    })
    expect(read['messages']).toBeLessThan(10)
  })

  it.each([
    ['one message', 1, () => ({ messageId: undoneId })],
    ['a range', 5, () => ({ fromSeq: 100, toSeq: 104 })],
  ])('undoing %s reads only the messages that it names, and so does redoing it', async (lane, messages, rangeOf) => {
    const change = { threadId, clearEpoch: 0, range: rangeOf() }
    let generation = 0
    const read = await rowsRead(async (tx) => {
      const state = { ...newState(threadId, ++generation), lane, headSeq: THREAD_MESSAGES }
      const covered = { coveredFrom: positionAt(5), coveredTo: positionAt(THREAD_MESSAGES - 20), coveredCount: 1_900 }
      await insertState(tx, { ...state, ...covered })
      expect(await undoCompactions(tx, change)).toMatchObject({ messages, states: 1 })
      expect(await redoCompactions(tx, change)).toMatchObject({ messages })
    })
    expect(read['messages']).toBeLessThan(200)
  })

  it('loadPruningsOf reads one state for each pruning, however long the series is', async () => {
    const states = Array.from({ length: 100 }, (_, index): NewContextState => newState(threadId, index + 1))
    const latest = states.at(-1)
    if (latest === undefined) throw new Error('there is no state')
    const [pruned, others] = [newId(), Array.from({ length: 50 }, newId)]
    await database.store.inProject(PROJECT, async (tx) => {
      for (const each of states) await insertState(tx, each)
      const pruning = {
        action: 'stub',
        text: '',
        calls: null,
        tokens: 0,
        reason: '',
        archiveId: newId(),
        stateId: latest.id,
      } as const
      const prunings = [pruned, ...others].map((messageId) => ({ ...pruning, messageId }))
      await insertPrunings(tx, { threadId, prunings })
    })
    const inForce = { ...latest, createdAtMs: 0, readyAtMs: 0 }
    const read = await rowsRead(async (tx) => {
      expect(await loadPruningsOf(tx, { state: inForce, messageIds: [pruned] })).toHaveLength(1)
    })
    expect(read['context_states']).toBe(1)
    expect(read['prunings']).toBeLessThan(5)
  })

  it('the other queries read single rows', async () => {
    const read = await rowsRead(async (tx) => {
      await loadThread(tx, { threadId })
      await loadLatestStates(tx, { threadId, lane: 'sandwich', clearEpoch: 0 })
      await findThreads(tx, { threadId, codePrefix: 'abc' })
      await findArchiveEntry(tx, { threadId, messageId: newId() })
      await readArchiveContent(tx, new Uint8Array(32))
      await readArchived(tx, { threadId, messageId: newId() })
      await loadContext(tx, { id: newId() })
      await loadEventsAfter(tx, { projectId: PROJECT, number: 0, limit: 10 })
      await settlePrune(tx, {
        thread: { threadId, pruneSeq: 1, headSeq: 2 },
        usage: null,
        awaitsSummary: true,
        remembers: true,
        keptLanes: [],
        keptUsages: new Map(),
      })
    })
    expect(Math.max(...Object.values(read))).toBeLessThan(10)
  })
})
