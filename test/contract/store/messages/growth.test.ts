import type { CompactionState } from '@heddle/core'
import {
  advanceEmbedCursor,
  appendMessages,
  countMessages,
  existingMessages,
  forkThread,
  listHistory,
  loadCoveredPage,
  loadMessage,
  loadMessagesById,
  loadMessagesBySeq,
  loadUncovered,
  recordTokenCounts,
  type Tx,
} from '@heddle/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { append, appendOne, freshStore, newId, PROJECT, prepared, RECEIVED_AT_MS, type TestStore } from '../support.js'
import { fillThread, positionOf } from './long-threads.js'

const SMALL = 1_000
const GROWN = 50_000
/** A million by the variable: filling it takes half a minute. */
const LARGE = Number(process.env['HEDDLE_TEST_GROWTH_MESSAGES'] ?? 150_000)

/**
 * Indexes get a level or two deeper: a look-up of three blocks, two of its index and one of the table, becomes one of
 * four or five. Some pages may also be split.
 */
const GROWTH_MAX = 5 / 3
const SPLIT_BLOCKS_MAX = 10
/** Bisection needs one more step for each doubling of a thread; a step is one look-up in the index and one in the table. */
const MORE_BLOCKS_OF_COUNTS_MAX = Math.ceil(Math.log2(LARGE / SMALL)) * 6

const RUNS = 7

let database: TestStore
const blocks = {
  small: new Map<string, number>(),
  /** It grew after the planner's statistics were made, which describe only the small thread. */
  stale: new Map<string, number>(),
  large: new Map<string, number>(),
  fork: new Map<string, number>(),
}

interface LongThread {
  readonly threadId: string
  readonly thread: string
  readonly count: number
}

const queries: Record<string, (tx: Tx, thread: LongThread) => Promise<unknown>> = {
  'an append, looked up first': (tx, thread) => appendTwo(tx, thread, false),
  'an append that is taken for new': (tx, thread) => appendTwo(tx, thread, true),
  'the look-up of ids': (tx, { threadId, count }) =>
    existingMessages(tx, { threadId, ids: [positionOf(count / 2).id, newId()] }),
  'the advance of a cursor': (tx, { threadId, count }) =>
    advanceEmbedCursor(tx, { erasedCount: 0, threadId, toSeq: count }),
  'exact counts': (tx, { threadId, count }) =>
    recordTokenCounts(tx, { threadId, counts: [{ seq: count, tokens: 30, reasoningTokens: 0 }] }),
  'the window from its start': (tx, { threadId }) =>
    loadUncovered(tx, { threadId, clearedSeq: 0, state: null, keep: 'oldest', limit: 20 }),
  'the window from its end': (tx, { threadId }) =>
    loadUncovered(tx, { threadId, clearedSeq: 0, state: null, keep: 'newest', limit: 20 }),
  'what a summary does not cover': (tx, { threadId, count }) =>
    loadUncovered(tx, { threadId, clearedSeq: 0, state: stateOf(count), keep: 'newest' }),
  'what a summary covers': (tx, { threadId, count }) =>
    loadCoveredPage(tx, { threadId, clearedSeq: 0, state: stateOf(count), limit: 20 }),
  'the messages of a stage': (tx, { threadId, count }) =>
    loadMessagesBySeq(tx, { threadId, afterSeq: count / 2, limit: 20 }),
  'a page of the history': (tx, { threadId, count }) =>
    listHistory(tx, { threadId, afterSeq: count / 2, limit: 20, order: 'desc' }),
  'the last page of the history': (tx, { threadId }) => listHistory(tx, { threadId, limit: 20, order: 'desc' }),
  'messages by their ids': (tx, { threadId, count }) =>
    loadMessagesById(tx, { threadId, ids: [positionOf(count / 2).id, newId()] }),
  'a message by its id': (tx, { threadId, count }) => loadMessage(tx, { threadId, id: positionOf(count / 2).id }),
  'the counts of a window': (tx, { threadId, count }) =>
    countMessages(tx, { threadId, sinceMs: RECEIVED_AT_MS + count / 2, afterSeq: 0 }),
}

function appendTwo(tx: Tx, { thread }: LongThread, assumeNew: boolean): Promise<unknown> {
  const appends = [append([prepared(), prepared()], { thread })]
  return appendMessages(tx, { projectId: PROJECT, appends, assumeNew })
}

/** Covers all but the last 20 messages. */
function stateOf(count: number): CompactionState {
  const point = positionOf(count - 20)
  return {
    point,
    headSeq: count - 20,
    topIds: [2, 3, 4].map((seq) => positionOf(seq).id),
    covered: { from: positionOf(5), to: point },
    summary: 'so far',
    summaryTokens: 2,
    prunings: new Map(),
  }
}

/** Blocks of tables and indexes in one run of each query, as the role that row-level security binds. */
async function measure(thread: LongThread): Promise<Map<string, number>> {
  const touched = new Map<string, number>()
  for (const [name, query] of Object.entries(queries)) {
    const runs = await database.store.inProject(PROJECT, async (tx) => {
      const counts: number[] = []
      // Several times: from the sixth execution on, a prepared statement may get a generic plan.
      for (let run = 0; run < RUNS; run++) {
        const before = await blocksSoFar(tx)
        await query(tx, thread)
        counts.push((await blocksSoFar(tx)) - before)
      }
      return counts
    })
    touched.set(name, Math.max(...runs))
  }
  return touched
}

async function blocksSoFar(tx: Tx): Promise<number> {
  const [row] = await tx<{ blocks: number }[]>`
    select sum(pg_stat_get_xact_blocks_fetched(oid))::bigint as blocks
    from pg_class where relnamespace = 'heddle'::regnamespace and relkind in ('r', 'i')`
  return row?.blocks ?? 0
}

/** A fork of a fork, whose messages are in three threads: a query looks in each of them, whatever their length. */
const FORK_FACTOR = 4

async function forkTwice(origin: string, count: number): Promise<LongThread> {
  const forkAt = (of: string, name: string, atSeq: number) =>
    database.store.inProject(PROJECT, (tx) => forkThread(tx, { projectId: PROJECT, origin: of, name, atSeq }))
  await forkAt(origin, 'fork', count - 2)
  await appendOne(database.store, append([prepared(), prepared()], { thread: 'fork' }))
  const { threadId } = await forkAt('fork', 'fork of the fork', count)
  return { threadId, thread: 'fork of the fork', count }
}

beforeAll(async () => {
  database = await freshStore()
  for (const [size, count] of [
    ['small', SMALL],
    ['stale', GROWN],
    ['large', LARGE],
  ] as const) {
    const threadId = await fillThread(database, size, count, size === 'stale' ? 'stale' : 'fresh')
    blocks[size] = await measure({ threadId, thread: size, count })
  }
  blocks.fork = await measure(await forkTwice('large', LARGE))
}, 120_000)
afterAll(() => database.drop())

describe.each([
  ['a thread of any length', 'large'],
  ['a thread that grew since the statistics were made', 'stale'],
  ['a fork of a fork of a long thread', 'fork'],
] as const)('in %s', (_, size) => {
  it.each(Object.keys(queries))('%s reads as many blocks as in a small thread', (name) => {
    const [small = 0, large = Number.POSITIVE_INFINITY] = [blocks.small.get(name), blocks[size].get(name)]
    expect(small).toBeGreaterThan(0)
    const steps = name === 'the counts of a window' ? MORE_BLOCKS_OF_COUNTS_MAX : 0
    const threads = size === 'fork' ? FORK_FACTOR : 1
    expect(large).toBeLessThanOrEqual(threads * (small * GROWTH_MAX + SPLIT_BLOCKS_MAX + steps))
  })
})
