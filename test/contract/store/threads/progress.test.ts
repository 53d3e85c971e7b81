import type { IterationInput } from '@heddle/contracts'
import { agentIdOf, threadIdOf } from '@heddle/core'
import {
  clearAgent,
  findLaggingThreads,
  loadCheckpoint,
  loadIterationsByRank,
  loadNewestIterations,
  loadProgress,
  type NewProgress,
  publishProgress,
  settleProgress,
} from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { appendIterations, PROJECT, preparedIteration, storeOfTests } from '../support.js'

const database = storeOfTests()

const AGENT = 'runner'
let made = 0

/** A thread with iterations of some numbers, and functions that read and write its summaries. */
async function loopWith(numbers: readonly number[], fields: Partial<IterationInput> = {}) {
  const thread = `loop ${++made}`
  const agent = `${AGENT} ${made}`
  const threadId = threadIdOf(PROJECT, thread)
  const series = { threadId, lane: 'iterations-test', clearEpoch: 0 }
  const inProject = database.store.inProject.bind(database.store, PROJECT) as <T>(
    work: Parameters<typeof database.store.inProject<T>>[1],
  ) => Promise<T>
  const append = (some: readonly number[], happenedAtMs = Date.now()) =>
    appendIterations(database.store, {
      agent,
      thread,
      iterations: some.map((iterationNumber) => preparedIteration({ iterationNumber, ...fields }, happenedAtMs)),
    })
  await append(numbers)
  const publish = (progress: Partial<NewProgress> = {}) =>
    inProject((tx) =>
      publishProgress(tx, {
        ...series,
        headSeq: 0,
        erasedCount: 0,
        version: 1,
        kind: 'regenerate',
        total: 10,
        coveredCount: 5,
        coveredFrom: 1,
        coveredTo: 5,
        summary: 'All is well \0.',
        summaryTokens: 4,
        summarizer: 'test',
        ...progress,
      }),
    )
  const standing = (clearEpoch = 0) => inProject((tx) => loadProgress(tx, { ...series, clearEpoch }))
  return { agent, threadId, series, inProject, append, publish, standing }
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe('the progress summaries of a thread', () => {
  it('are versions, each of which is published once and never changed', async () => {
    const { publish, standing, inProject, threadId } = await loopWith(upTo(10))
    const published = await Promise.all(['one', 'two', 'three'].map((summary) => publish({ summary })))
    expect(published.filter(Boolean)).toHaveLength(1)
    const first = await standing()
    expect(first).toMatchObject({ eligible: 10, stored: 10, holds: true, newest: { version: 1 } })
    expect(await publish({ version: 2, kind: 'fold', total: 11, coveredCount: 6, coveredTo: 6 })).toBe(true)
    expect((await standing()).newest).toMatchObject({ version: 2, coveredTo: 6 })
    await expect(
      inProject((tx) => tx`update heddle.progress_summaries set summary = '' where thread_id = ${threadId}`),
    ).rejects.toThrow(/permission denied/)
  })

  it('become invalid when a late iteration arrives in the range that they cover', async () => {
    const { append, publish, standing } = await loopWith([1, 2, 4, 5, 6, 7, 8, 9, 10, 11])
    await publish({ coveredTo: 6 })
    expect(await standing()).toMatchObject({ holds: true })
    await append([12])
    expect(await standing()).toMatchObject({ holds: true, eligible: 11 })
    await append([3])
    expect(await standing()).toMatchObject({ holds: false, eligible: 12, newest: { version: 1 } })
  })

  it('that cover a multiple of 200 iterations are checkpoints as long as they are valid', async () => {
    const { append, publish, series, inProject } = await loopWith([...upTo(205), ...upTo(200).map((at) => 300 + at)])
    await publish({ total: 205, coveredCount: 200, coveredTo: 200 })
    await publish({ version: 2, total: 405, coveredCount: 400, coveredTo: 495 })
    await publish({ version: 3, kind: 'fold', total: 405, coveredCount: 400, coveredTo: 495 })
    const checkpoint = () => inProject((tx) => loadCheckpoint(tx, series))
    expect(await checkpoint()).toMatchObject({ version: 2 })
    await append([250])
    expect(await checkpoint()).toMatchObject({ version: 1 })
    await append([0])
    expect(await checkpoint()).toBeNull()
  })

  it('are refused after a clear, which also hides iterations that were stored before it or have an earlier time', async () => {
    const { agent, append, publish, standing, inProject, threadId } = await loopWith(upTo(6))
    await inProject((tx) => clearAgent(tx, { agentId: agentIdOf(PROJECT, agent), clearedAtMs: Date.now() }))
    expect(await publish()).toBe(false)
    expect(await standing(1)).toMatchObject({ eligible: 0, stored: 6, newest: null })
    await append([7, 8], Date.now() + 60_000)
    await append([9], Date.now() - 60_000)
    expect((await standing(1)).eligible).toBe(2)
    const read = await inProject((tx) => loadIterationsByRank(tx, { threadId, after: 1, limit: 10 }))
    expect(read.map(({ number }) => number)).toEqual([8])
  })

  it('are requested by the reconciler until all iterations were processed', async () => {
    const { threadId, inProject } = await loopWith(upTo(3))
    const lagging = async () =>
      (await findLaggingThreads(database.store, { limit: 1_000, nowMs: Date.now() })).filter(
        (work) => work.threadId === threadId && work.stage === 'summarize',
      )
    expect(await lagging()).toEqual([{ projectId: PROJECT, threadId, stage: 'summarize' }])
    await inProject((tx) => settleProgress(tx, { threadId, count: 2 }))
    expect(await lagging()).toHaveLength(1)
    await inProject((tx) => settleProgress(tx, { threadId, count: 3 }))
    expect(await lagging()).toEqual([])
  })
})

describe('texts of iterations read for contexts', () => {
  it.each([
    ['plain', 'x', ''],
    ['with what Postgres texts cannot hold', 'x', '\0'],
    ['of escapes alone', '\0', '\ud83d'],
  ])('are unchanged beginnings, and ends of outputs, of limited length: %s', async (_, unit, first) => {
    const output = `${first}${unit.repeat(400_000)}<progress>All is done.</progress>`
    const { threadId, inProject } = await loopWith([1], { output, prompt: output })
    const [newest] = await inProject((tx) => loadNewestIterations(tx, { threadId, afterNumber: null, limit: 1 }))
    const [read] = await inProject((tx) => loadIterationsByRank(tx, { threadId, after: 0, limit: 1 }))
    for (const prompt of [newest?.prompt, read?.prompt]) {
      expect(prompt?.length).toBeGreaterThan(5_000)
      expect(prompt?.length).toBeLessThan(31_000)
      expect(output.startsWith(prompt ?? '-')).toBe(true)
    }
    for (const text of [newest?.output, read?.output]) {
      expect(text?.slice(0, 5_001)).toBe(output.slice(0, 5_001))
      expect(text?.length).toBeLessThan(31_000)
      // The end of an output, where agents state their progress, is read only where Postgres can cut the text.
      if (first === '') expect(text?.endsWith('<progress>All is done.</progress>')).toBe(true)
    }
  })
})
