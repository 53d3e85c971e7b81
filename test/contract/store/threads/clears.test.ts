import { agentIdOf, boundPlace, isInWindow, threadIdOf, windowBounds } from '@heddle/core'
import {
  clearAgent,
  insertState,
  listHistory,
  loadThread,
  loadUncovered,
  type NewContextState,
  publishSummary,
} from '@heddle/store'
import fc from 'fast-check'
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

const inProject: TestStore['store']['inProject'] = (projectId, work) => database.store.inProject(projectId, work)
const clear = (agentId: string, clearedAtMs = RECEIVED_AT_MS) =>
  inProject(PROJECT, (tx) => clearAgent(tx, { agentId, clearedAtMs }))

let names = 0
async function freshAgent(...threadLengths: number[]): Promise<{ agentId: string; agent: string; threads: string[] }> {
  const agent = `cleared ${++names}`
  const threads = threadLengths.map((_, index) => `${agent} thread ${index}`)
  for (const [index, length] of threadLengths.entries()) {
    const messages = Array.from({ length }, () => prepared())
    await appendOne(database.store, append(messages, { agent, thread: threads[index] ?? '' }))
  }
  return { agentId: agentIdOf(PROJECT, agent), agent, threads }
}

const rowOf = (thread: string) => inProject(PROJECT, (tx) => loadThread(tx, { threadId: threadIdOf(PROJECT, thread) }))

function stateOf(threadId: string): NewContextState {
  const position = { orderedAtMs: RECEIVED_AT_MS, ordinal: 0, id: newId() }
  return {
    id: newId(),
    threadId,
    lane: 'sandwich',
    strategy: 'sandwich',
    clearEpoch: 0,
    generation: 1,
    replaces: null,
    status: 'pending',
    point: position,
    headSeq: 3,
    topIds: [],
    coveredFrom: position,
    coveredTo: position,
    coveredCount: 1,
    coveredTokens: 9,
    summary: null,
    summaryTokens: 0,
    summarizer: null,
  }
}

/** The possible errors of a clock, in milliseconds: a moment, or years. */
const skew = fc.oneof(fc.integer({ min: -10_000, max: 10_000 }), fc.integer({ min: -1e12, max: 1e12 }))

describe('a clear from a wrong clock', () => {
  it('hides all stored messages, and no later message of a right clock or of the same clock', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(skew, { minLength: 1, maxLength: 4 }), skew, async (clearSkews, messageSkew) => {
        const { agentId, agent, threads } = await freshAgent(0)
        const [thread = ''] = threads
        const send = async (content: string, claimedMs: number, receivedAtMs: number) => {
          const place = { orderedAtMs: boundPlace(claimedMs, receivedAtMs) }
          await appendOne(database.store, append([prepared({ content }, place)], { agent, thread }))
        }
        let nowMs = RECEIVED_AT_MS
        for (const clearSkew of clearSkews) {
          await send('before', nowMs + messageSkew, nowMs)
          nowMs += 100
          const clearedAtMs = nowMs + clearSkew
          await inProject(PROJECT, (tx) => clearAgent(tx, { agentId, clearedAtMs, receivedAtMs: nowMs }))
          nowMs += 1
        }
        // The slowest clock may still be before a clear of another clock; the last one is not before its own.
        const latest = Math.max(...clearSkews.map((each) => Math.min(each, 0)))
        await send('right', nowMs, nowMs)
        await send('same', nowMs + latest, nowMs)
        const row = await rowOf(thread)
        if (!row) throw new Error('the thread is gone')
        const bounds = windowBounds({ ...row, rollingWindow: null, nowMs })
        const { threadId } = row
        const page = await inProject(PROJECT, (tx) => listHistory(tx, { threadId, limit: 100, order: 'asc' }))
        const messages = page?.messages ?? []
        expect(messages).toHaveLength(clearSkews.length + 2)
        const shown = messages.filter((message) => isInWindow(message, bounds)).map(({ content }) => content)
        expect(shown.sort()).toEqual(['right', 'same'])
      }),
      { numRuns: 60 },
    )
  })

  it('hides no message that is sent after it in the same millisecond', async () => {
    const { agentId, agent, threads } = await freshAgent(1)
    const [thread = ''] = threads
    const nowMs = RECEIVED_AT_MS + 100
    const clearedAtMs = Date.parse('2999-01-01T00:00:00Z')
    await inProject(PROJECT, (tx) => clearAgent(tx, { agentId, clearedAtMs, receivedAtMs: nowMs }))
    await appendOne(database.store, append([prepared({ content: 'after' }, { orderedAtMs: nowMs })], { agent, thread }))
    const row = await rowOf(thread)
    if (!row) throw new Error('the thread is gone')
    const bounds = windowBounds({ ...row, rollingWindow: null, nowMs })
    const page = await inProject(PROJECT, (tx) => listHistory(tx, { threadId: row.threadId, limit: 9, order: 'asc' }))
    const shown = page?.messages.filter((message) => isInWindow(message, bounds)) ?? []
    expect(shown.map(({ content }) => content)).toEqual(['after'])
  })

  it('is recorded with its own time and the time of its arrival', async () => {
    const { agentId } = await freshAgent(1)
    const claimedMs = Date.parse('2999-01-01T00:00:00Z')
    const cleared = await clear(agentId, claimedMs)
    const [kept] = await inProject(
      PROJECT,
      (tx) =>
        tx<{ atMs: number; cameMs: number }[]>`
          select cleared_at as at_ms, created_at as came_ms from heddle.agent_clears where agent_id = ${agentId}`,
    )
    expect(kept).toEqual({ atMs: claimedMs, cameMs: (cleared?.lastClearedAtMs ?? 0) + 1 })
    expect(cleared?.lastClearedAtMs).toBeLessThan(Date.parse('2998-01-01T00:00:00Z'))
  })
})

describe('a clear', () => {
  it('hides the messages of each thread of the agent, and does not affect other agents', async () => {
    const [one, other] = [await freshAgent(3, 5), await freshAgent(2)]
    expect(await clear(one.agentId, RECEIVED_AT_MS + 7)).toMatchObject({ epoch: 1, threads: 2 })
    expect(await rowOf(one.threads[0] ?? '')).toMatchObject({
      clearEpoch: 1,
      clearedSeq: 3,
      lastClearedAtMs: RECEIVED_AT_MS + 7,
    })
    expect(await rowOf(one.threads[1] ?? '')).toMatchObject({ clearEpoch: 1, clearedSeq: 5 })
    expect(await rowOf(other.threads[0] ?? '')).toMatchObject({ clearEpoch: 0, clearedSeq: 0, lastClearedAtMs: null })
  })

  it('is stored with the time of the caller, and never moves an earlier clear back', async () => {
    const { agentId, agent, threads } = await freshAgent(1)
    const [thread = ''] = threads
    await clear(agentId, RECEIVED_AT_MS + 500)
    await appendOne(database.store, append([prepared(), prepared()], { agent, thread }))
    expect(await clear(agentId, RECEIVED_AT_MS)).toMatchObject({ epoch: 2, threads: 1 })
    expect(await rowOf(thread)).toMatchObject({ clearEpoch: 2, clearedSeq: 3, lastClearedAtMs: RECEIVED_AT_MS + 500 })
    const kept = await inProject(
      PROJECT,
      (tx) => tx`select epoch, cleared_at as at_ms from heddle.agent_clears where agent_id = ${agentId} order by epoch`,
    )
    expect(kept.map(({ epoch, atMs }) => [epoch, atMs])).toEqual([
      [1, RECEIVED_AT_MS + 500],
      [2, RECEIVED_AT_MS],
    ])
  })

  it('of a missing agent does nothing', async () => {
    expect(await clear(newId())).toBeNull()
  })

  it('hides later messages whose own time is before it', async () => {
    const { agentId, agent, threads } = await freshAgent(2)
    const [thread = ''] = threads
    await clear(agentId, RECEIVED_AT_MS + 1_000)
    const younger = prepared({ content: 'younger' }, { orderedAtMs: RECEIVED_AT_MS + 2_000 })
    const older = prepared({ content: 'older' }, { orderedAtMs: RECEIVED_AT_MS + 500 })
    await appendOne(database.store, append([younger, older], { agent, thread }))
    const row = await rowOf(thread)
    if (!row) throw new Error('the thread is gone')
    const { threadId, clearedSeq, lastClearedAtMs } = row
    const { messages } = await inProject(PROJECT, (tx) =>
      loadUncovered(tx, { threadId, clearedSeq, lastClearedAtMs, state: null, keep: 'oldest' }),
    )
    expect(messages.map(({ content }) => content)).toEqual(['younger'])
  })

  it('voids the pending summary, and refuses it when it arrives', async () => {
    const { agentId, threads } = await freshAgent(3)
    const threadId = threadIdOf(PROJECT, threads[0] ?? '')
    const state = stateOf(threadId)
    expect(await inProject(PROJECT, (tx) => insertState(tx, state))).toBe(true)
    await clear(agentId)
    const kept = await inProject(PROJECT, (tx) => tx`select status from heddle.context_states where id = ${state.id}`)
    expect(kept).toMatchObject([{ status: 'void' }])
    const summary = { stateId: state.id, clearEpoch: 0, summary: 'so far', summaryTokens: 2, summarizer: 'test' }
    expect(await inProject(PROJECT, (tx) => publishSummary(tx, summary))).toBe(false)
    const next = { ...state, id: newId() }
    expect(await inProject(PROJECT, (tx) => insertState(tx, next))).toBe(false)
  })

  it('does not deadlock with a compaction that is published at the same time', async () => {
    const { agentId, threads } = await freshAgent(3)
    const threadId = threadIdOf(PROJECT, threads[0] ?? '')
    const first = stateOf(threadId)
    await inProject(PROJECT, (tx) => insertState(tx, first))
    const next = { ...stateOf(threadId), generation: 2, replaces: first.id }
    const summary = { stateId: first.id, clearEpoch: 0, summary: 'so far', summaryTokens: 2, summarizer: 'test' }
    const published = await inProject(PROJECT, async (tx) => {
      // The two halves of a clear: a publication in between waits for both.
      await tx`update heddle.agents set clear_epoch = clear_epoch + 1 where id = ${agentId}`
      const publishing = Promise.all([
        inProject(PROJECT, (other) => insertState(other, next)),
        inProject(PROJECT, (other) => publishSummary(other, summary)),
      ])
      await whenBlocked(database, 2)
      await tx`update heddle.context_states set status = 'void' where id = ${first.id}`
      return { publishing }
    })
    expect(await published.publishing).toEqual([false, false])
  })

  it('waits for concurrent appends and clears, and none of them is lost', async () => {
    const { agentId, agent, threads } = await freshAgent(1, 1, 1)
    const appends = threads.flatMap((thread) =>
      Array.from({ length: 5 }, () => appendOne(database.store, append([prepared()], { agent, thread }))),
    )
    const clears = await Promise.all([clear(agentId), clear(agentId)])
    await Promise.all(appends)
    expect(clears.map((one) => one?.epoch).sort()).toEqual([1, 2])
    for (const thread of threads) {
      const row = await rowOf(thread)
      expect(row).toMatchObject({ clearEpoch: 2, headSeq: 6 })
      expect(row?.clearedSeq).toBeLessThanOrEqual(6)
    }
  })
})
