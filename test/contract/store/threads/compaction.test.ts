import { agentIdOf, type Position } from '@heddle/core'
import {
  advanceEmbedCursor,
  advanceRememberCursor,
  awaitsSummary,
  clearThreadFailure,
  findLaggingThreads,
  findPendingStates,
  insertPrunings,
  insertState,
  listStates,
  loadLatestStates,
  loadPruningsOf,
  loadThread,
  markThreadFailed,
  type NewContextState,
  publishSummary,
  settlePrune,
  type Tx,
  voidStates,
} from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { whenBlocked } from '../erasure/erasure-support.js'
import {
  append,
  appendOne,
  newId,
  PROJECT,
  prepared,
  RECEIVED_AT_MS,
  storeOfTests,
  type TestStore,
} from '../support.js'

const database = storeOfTests()

let names = 0
async function freshThread(): Promise<{ threadId: string; agentId: string }> {
  const name = `compacted ${++names}`
  const { threadId } = await appendOne(
    database.store,
    append([prepared(), prepared(), prepared()], { thread: name, agent: name }),
  )
  return { threadId, agentId: agentIdOf(PROJECT, name) }
}

const inProject: TestStore['store']['inProject'] = (projectId, work) => database.store.inProject(projectId, work)

async function clear(agentId: string): Promise<void> {
  await inProject(PROJECT, (tx) => tx`update heddle.agents set clear_epoch = clear_epoch + 1 where id = ${agentId}`)
}

/** The result of a publication that begins while a clear has not committed yet: it must wait for it. */
async function duringClear(agentId: string, publish: (tx: Tx) => Promise<boolean>): Promise<boolean> {
  let publishing: Promise<boolean> | undefined
  await inProject(PROJECT, async (tx) => {
    await tx`update heddle.agents set clear_epoch = clear_epoch + 1 where id = ${agentId}`
    publishing = inProject(PROJECT, publish)
    // It is blocked in the server before this transaction ends, or does not wait at all.
    await Promise.race([publishing, whenBlocked(database)])
  })
  return (await publishing) ?? true
}

function newState(threadId: string, fields: Partial<NewContextState> = {}): NewContextState {
  const position = (ordinal: number): Position => ({ orderedAtMs: RECEIVED_AT_MS, ordinal, id: newId() })
  return {
    id: newId(),
    threadId,
    lane: 'sandwich',
    strategy: 'sandwich',
    clearEpoch: 0,
    generation: 1,
    replaces: null,
    status: 'pending',
    point: position(9),
    headSeq: 3,
    topIds: [newId(), newId()],
    coveredFrom: position(1),
    coveredTo: position(5),
    coveredCount: 5,
    coveredTokens: 500,
    summary: null,
    summaryTokens: 0,
    summarizer: null,
    ...fields,
  }
}

const seriesOf = (tx: Tx, threadId: string) => listStates(tx, { threadId, lane: 'sandwich', clearEpoch: 0, limit: 100 })

describe('cursors', () => {
  const settle = (threadId: string, pruneSeq: number, headSeq: number, awaitsSummary = true, remembers = false) =>
    inProject(PROJECT, (tx) =>
      settlePrune(tx, {
        thread: { threadId, pruneSeq, headSeq },
        usage: null,
        awaitsSummary,
        remembers,
        keptLanes: [],
        keptUsages: new Map(),
      }),
    )
  const cursorsOf = (threadId: string) => inProject(PROJECT, (tx) => loadThread(tx, { threadId }))

  it('of prune are moved by one of two workers that began at the same position', async () => {
    const { threadId } = await freshThread()
    await settle(threadId, 0, 2)
    await settle(threadId, 0, 3)
    expect(await cursorsOf(threadId)).toMatchObject({ pruneSeq: 2, summarizeSeq: 0, embedSeq: 0 })
    await settle(threadId, 2, 3, false)
    expect(await cursorsOf(threadId)).toMatchObject({ pruneSeq: 3, summarizeSeq: 3, embedSeq: 0 })
  })

  it('never pass the head and never move back', async () => {
    const { threadId } = await freshThread()
    const embed = (toSeq: number) =>
      inProject(PROJECT, (tx) => advanceEmbedCursor(tx, { erasedCount: 0, threadId, toSeq }))
    await settle(threadId, 0, 4)
    expect(await embed(4)).toBe(false)
    expect(await cursorsOf(threadId)).toMatchObject({ pruneSeq: 0, embedSeq: 0 })
    await settle(threadId, 0, 2)
    await settle(threadId, 2, 1)
    expect([await embed(2), await embed(1)]).toEqual([true, true])
    expect(await cursorsOf(threadId)).toMatchObject({ pruneSeq: 2, embedSeq: 2 })
  })

  it('of remember begin where prune was when settings ask for facts, and end when they do not', async () => {
    const { threadId } = await freshThread()
    const remember = (fromSeq: number, toSeq: number, erasedCount = 0) =>
      inProject(PROJECT, (tx) => advanceRememberCursor(tx, { threadId, fromSeq, toSeq, erasedCount }))
    await settle(threadId, 0, 1, true, false)
    expect([await remember(0, 1), (await cursorsOf(threadId))?.rememberSeq]).toEqual([false, null])
    await settle(threadId, 1, 2, true, true)
    expect(await cursorsOf(threadId)).toMatchObject({ rememberSeq: 1 })
    const stagesOf = async () => {
      const work = await findLaggingThreads(database.store, { limit: 1_000, nowMs: RECEIVED_AT_MS })
      return work.filter((one) => one.threadId === threadId).map(({ stage }) => stage)
    }
    expect(await stagesOf()).toContain('remember')
    expect([await remember(0, 2), await remember(1, 4), await remember(1, 2, 1)]).toEqual([false, false, false])
    expect([await remember(1, 2), await remember(1, 3)]).toEqual([true, false])
    await settle(threadId, 2, 3, true, true)
    expect(await cursorsOf(threadId)).toMatchObject({ rememberSeq: 2 })
    expect(await remember(2, 3)).toBe(true)
    expect(await stagesOf()).not.toContain('remember')
    await settle(threadId, 3, 3, true, false)
    expect(await cursorsOf(threadId)).toMatchObject({ rememberSeq: null })
  })

  it('of a thread that waits for a summary make the reconciler wake the summarize stage', async () => {
    const { threadId } = await freshThread()
    await inProject(PROJECT, async (tx) => {
      await insertState(tx, newState(threadId))
      await advanceEmbedCursor(tx, { erasedCount: 0, threadId, toSeq: 3 })
    })
    const stagesOf = async () =>
      (await findLaggingThreads(database.store, { limit: 1_000, nowMs: RECEIVED_AT_MS })).filter(
        (one) => one.threadId === threadId,
      )
    expect(await stagesOf()).toMatchObject([{ stage: 'prune' }])
    await settle(threadId, 0, 3)
    expect(await stagesOf()).toMatchObject([{ stage: 'summarize' }])
  })

  it('of a thread that a stage gave up on are skipped until the retry time', async () => {
    const { threadId } = await freshThread()
    const stagesOf = async (nowMs: number) => {
      const work = await findLaggingThreads(database.store, { limit: 1_000, nowMs })
      return work
        .filter((one) => one.threadId === threadId)
        .map(({ stage }) => stage)
        .sort()
    }
    // Summarize has no work until prune has read all messages.
    expect(await stagesOf(RECEIVED_AT_MS)).toEqual(['embed', 'prune'])
    await settle(threadId, 0, 2)
    expect(await stagesOf(RECEIVED_AT_MS)).toEqual(['embed', 'prune'])
    await settle(threadId, 2, 3)
    // No summary is due either: prune settles it.
    expect(await stagesOf(RECEIVED_AT_MS)).toEqual(['embed', 'prune'])
    await inProject(PROJECT, (tx) =>
      markThreadFailed(tx, { threadId, stage: 'embed', error: 'model away\0', retryAtMs: RECEIVED_AT_MS + 10 }),
    )
    expect(await stagesOf(RECEIVED_AT_MS)).toEqual([])
    expect(await stagesOf(RECEIVED_AT_MS + 10)).toEqual(['embed', 'prune'])
    expect(await inProject(PROJECT, (tx) => loadThread(tx, { threadId }))).toMatchObject({
      lastError: 'embed: model away\ufffd',
    })
    await inProject(PROJECT, (tx) => clearThreadFailure(tx, { threadId, stages: ['prune', 'summarize'] }))
    expect(await stagesOf(RECEIVED_AT_MS)).toEqual([])
    await inProject(PROJECT, (tx) => clearThreadFailure(tx, { threadId, stages: ['embed'] }))
    expect(await stagesOf(RECEIVED_AT_MS)).toEqual(['embed', 'prune'])
  })
})

describe('context states', () => {
  it('are read back as they were published, by generation', async () => {
    const { threadId } = await freshThread()
    const first = newState(threadId, { status: 'ready', summary: 'so far', summaryTokens: 2, summarizer: 'extractive' })
    const second = newState(threadId, {
      generation: 2,
      replaces: first.id,
      coveredFrom: null,
      coveredTo: null,
      topIds: [],
    })
    await inProject(PROJECT, async (tx) => {
      expect(await insertState(tx, first)).toBe(true)
      expect(await insertState(tx, second)).toBe(true)
      const states = await seriesOf(tx, threadId)
      expect(states).toMatchObject([first, second])
      expect(states[0]?.readyAtMs).toEqual(expect.any(Number))
      expect(states[1]?.readyAtMs).toBeNull()
    })
  })

  it('are published once for each generation, by whichever worker is first', async () => {
    const { threadId } = await freshThread()
    const publish = () => inProject(PROJECT, (tx) => insertState(tx, newState(threadId)))
    expect((await Promise.all([publish(), publish(), publish()])).filter(Boolean)).toHaveLength(1)
  })

  it('are refused after a clear, and so is the summary of one that was pending', async () => {
    const { threadId, agentId } = await freshThread()
    const state = newState(threadId)
    expect(await inProject(PROJECT, (tx) => insertState(tx, state))).toBe(true)
    await clear(agentId)
    expect(
      await inProject(PROJECT, (tx) => insertState(tx, newState(threadId, { generation: 2, replaces: state.id }))),
    ).toBe(false)
    const published = { stateId: state.id, clearEpoch: 0, summary: 'late', summaryTokens: 1, summarizer: 'extractive' }
    expect(await inProject(PROJECT, (tx) => publishSummary(tx, published))).toBe(false)
    expect(await inProject(PROJECT, (tx) => publishSummary(tx, { ...published, clearEpoch: 1 }))).toBe(false)
    expect(await inProject(PROJECT, (tx) => insertState(tx, newState(threadId, { clearEpoch: 1 })))).toBe(true)
  })

  it('are refused while a clear runs', async () => {
    const { threadId, agentId } = await freshThread()
    expect(await duringClear(agentId, (tx) => insertState(tx, newState(threadId)))).toBe(false)
  })

  it('get no summary while a clear runs, also superseded ones, which a clear leaves in force', async () => {
    const { threadId, agentId } = await freshThread()
    const [first, second] = [newState(threadId), newState(threadId, { generation: 2 })]
    await inProject(PROJECT, async (tx) => {
      await insertState(tx, first)
      await insertState(tx, { ...second, replaces: first.id })
    })
    const published = { stateId: first.id, clearEpoch: 0, summary: 'late', summaryTokens: 1, summarizer: 'test' }
    expect(await duringClear(agentId, (tx) => publishSummary(tx, published))).toBe(false)
    expect(await inProject(PROJECT, (tx) => seriesOf(tx, threadId))).toMatchObject([
      { status: 'passed', summary: null },
      { status: 'pending', summary: null },
    ])
  })

  it('that are refused after a clear supersede no state', async () => {
    const { threadId, agentId } = await freshThread()
    const first = newState(threadId)
    await inProject(PROJECT, (tx) => insertState(tx, first))
    await clear(agentId)
    const second = newState(threadId, { generation: 2, replaces: first.id })
    expect(await inProject(PROJECT, (tx) => insertState(tx, second))).toBe(false)
    expect(await inProject(PROJECT, (tx) => seriesOf(tx, threadId))).toMatchObject([{ status: 'pending' }])
  })

  it('accept their summary once', async () => {
    const { threadId } = await freshThread()
    const state = newState(threadId)
    await inProject(PROJECT, (tx) => insertState(tx, state))
    const publish = (summary: string) =>
      inProject(PROJECT, (tx) =>
        publishSummary(tx, { stateId: state.id, clearEpoch: 0, summary, summaryTokens: 4, summarizer: 'model' }),
      )
    expect((await Promise.all([publish('one'), publish('two')])).filter(Boolean)).toHaveLength(1)
    const stored = await inProject(PROJECT, (tx) => seriesOf(tx, threadId))
    expect(stored).toMatchObject([{ status: 'ready', summaryTokens: 4, summarizer: 'model' }])
  })

  it('that became void are replaced by rebuilt ones, and nothing builds on them', async () => {
    const { threadId } = await freshThread()
    const first = newState(threadId, { status: 'ready' })
    const second = newState(threadId, { generation: 2, replaces: first.id, status: 'ready' })
    await inProject(PROJECT, async (tx) => {
      await insertState(tx, first)
      await insertState(tx, second)
      expect(await voidStates(tx, { threadId, lane: 'sandwich', clearEpoch: 0, fromGeneration: 2 })).toBe(1)
      expect(await insertState(tx, newState(threadId, { generation: 3, replaces: second.id }))).toBe(false)
      const rebuilt = newState(threadId, { generation: 2, replaces: first.id })
      expect(await insertState(tx, rebuilt)).toBe(true)
      const states = await seriesOf(tx, threadId)
      expect(states.map(({ id }) => id)).toEqual([first.id, rebuilt.id])
    })
  })

  it('that wait for a summary are found for the reconciler', async () => {
    const { threadId } = await freshThread()
    await inProject(PROJECT, (tx) => insertState(tx, newState(threadId)))
    const nowMs = Date.now() + 60_000
    const work = await findPendingStates(database.store, { limit: 100, createdBeforeMs: nowMs, nowMs })
    expect(work).toContainEqual({ stage: 'summarize', projectId: PROJECT, threadId })
    expect(
      await findPendingStates(database.store, { limit: 100, createdBeforeMs: RECEIVED_AT_MS - 1e12, nowMs }),
    ).toEqual([])
  })
})

describe('prunings', () => {
  it('come from states in force, the latest generation last', async () => {
    const { threadId } = await freshThread()
    const first = newState(threadId, { status: 'ready' })
    const second = newState(threadId, { generation: 2, replaces: first.id, status: 'ready' })
    const pruning = (stateId: string, messageId: string, text: string) =>
      ({
        stateId,
        messageId,
        action: 'condense',
        text,
        calls: [{ number: 2, text, freedTokens: 7 }],
        tokens: 3,
        reason: 'old tool result',
        archiveId: newId(),
      }) as const
    const messageId = newId()
    const rows = [pruning(second.id, messageId, 'later\0'), pruning(first.id, messageId, 'earlier')]
    await inProject(PROJECT, async (tx) => {
      await insertState(tx, first)
      await insertState(tx, second)
      await insertPrunings(tx, { threadId, prunings: rows })
      await insertPrunings(tx, { threadId, prunings: rows })
      const inForce = async (of: readonly string[]) =>
        (await loadPruningsOf(tx, { state: { ...second, createdAtMs: 0, readyAtMs: 0 }, messageIds: of })).map(
          ({ text }) => text,
        )
      expect(await inForce([messageId])).toEqual(['earlier', 'later\ufffd'])
      await voidStates(tx, { threadId, lane: 'sandwich', clearEpoch: 0, fromGeneration: 2 })
      expect(await inForce([messageId])).toEqual(['earlier'])
      expect(await inForce([newId()])).toEqual([])
      expect(await inForce([])).toEqual([])
    })
  })
})

describe('a series of states', () => {
  it('is read as its latest state and its latest state with a summary', async () => {
    const { threadId } = await freshThread()
    const first = newState(threadId, { status: 'ready' })
    const second = newState(threadId, { generation: 2, replaces: first.id, status: 'pending' })
    const third = newState(threadId, { generation: 3, replaces: second.id, status: 'pending' })
    await inProject(PROJECT, async (tx) => {
      for (const state of [first, second, third]) expect(await insertState(tx, state)).toBe(true)
      const lane = { threadId, lane: 'sandwich', clearEpoch: 0 }
      expect((await loadLatestStates(tx, lane)).map(({ id }) => id)).toEqual([third.id, first.id])
      expect((await seriesOf(tx, threadId)).map(({ status }) => status)).toEqual(['ready', 'passed', 'pending'])
      const published = { stateId: second.id, clearEpoch: 0, summary: 'late', summaryTokens: 1, summarizer: 'test' }
      expect(await publishSummary(tx, published)).toBe(true)
      expect((await loadLatestStates(tx, lane)).map(({ id }) => id)).toEqual([third.id, second.id])
      expect((await listStates(tx, { ...lane, limit: 2 })).map(({ id }) => id)).toEqual([second.id, third.id])
    })
  })

  it('that were superseded are pending again when the later state becomes void', async () => {
    const { threadId } = await freshThread()
    const first = newState(threadId)
    const second = newState(threadId, { generation: 2, replaces: first.id })
    const lane = { threadId, lane: 'sandwich', clearEpoch: 0 }
    await inProject(PROJECT, async (tx) => {
      await insertState(tx, first)
      await insertState(tx, second)
      await voidStates(tx, { ...lane, fromGeneration: 2 })
      const [latest] = await loadLatestStates(tx, lane)
      expect(latest).toMatchObject({ id: first.id, status: 'passed' })
      expect(latest && awaitsSummary(latest)).toBe(true)
      const summary = { stateId: first.id, clearEpoch: 0, summary: 'so far', summaryTokens: 2, summarizer: 'test' }
      expect(await publishSummary(tx, summary)).toBe(true)
      const [summarized] = await loadLatestStates(tx, lane)
      expect(summarized && awaitsSummary(summarized)).toBe(false)
    })
  })
})
