import type { PartialSettings } from '@heddle/contracts'
import { agentIdOf, threadIdOf } from '@heddle/core'
import { fixedSummarizer } from '@heddle/models'
import { clearAgent, findPendingStates, type Store } from '@heddle/store'
import { beforeAll, expect, test } from 'vitest'
import { freshStore, PROJECT, RECEIVED_AT_MS } from './store/support.js'
import { pruneOnce, say, settle, summarizeOnce, TestSummarizer } from './summarizing.js'

let store: Store
beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

const settings: PartialSettings = { budget: 4_000, rollingWindow: null }

/** Determined only by its arrival: later messages of other tests claim no later time. */
const clear = () =>
  store.inProject(PROJECT, (tx) =>
    clearAgent(tx, { agentId: agentIdOf(PROJECT, 'weaver'), clearedAtMs: RECEIVED_AT_MS - 1 }),
  )

const statesOf = (thread: string) =>
  store.inProject(
    PROJECT,
    async (tx) =>
      await tx<{ status: string; summary: string | null }[]>`
        select status, summary from heddle.context_states
        where thread_id = ${threadIdOf(PROJECT, thread)} order by generation`,
  )

/** A summarizer that runs a test's action during its work. */
function whileSummarizing(happens: () => Promise<unknown>): TestSummarizer {
  const summarizer = new TestSummarizer()
  const summarize = summarizer.summarize.bind(summarizer)
  summarizer.summarize = async (request) => {
    await happens()
    return await summarize(request)
  }
  return summarizer
}

const CAME_FIRST = expect.stringContaining('came first')

test('a clear that comes after the range was read and before its summary is published makes the summary void', async () => {
  await say(store, 'cleared', 1, 120)
  await pruneOnce(store, 'cleared', settings)
  const summarizers = fixedSummarizer(whileSummarizing(clear))
  const outcome = await summarizeOnce(store, 'cleared', settings, summarizers)
  expect(outcome).toMatchObject({ reason: CAME_FIRST })
  const states = await statesOf('cleared')
  expect(states.at(-1)).toEqual({ status: 'void', summary: null })
})

test('the same clear voids the summary of a superseded state, which a clear leaves in force', async () => {
  await say(store, 'passed', 1, 120)
  await pruneOnce(store, 'passed', settings)
  const before = await statesOf('passed')
  const summarizers = fixedSummarizer(
    whileSummarizing(async () => {
      await say(store, 'passed', 121, 60)
      await pruneOnce(store, 'passed', settings)
      expect((await statesOf('passed'))[before.length - 1]?.status).toBe('passed')
      await clear()
    }),
  )
  expect(await summarizeOnce(store, 'passed', settings, summarizers)).toMatchObject({ reason: CAME_FIRST })
  expect((await statesOf('passed')).flatMap(({ summary }) => summary ?? [])).toEqual([])
})

test('after a clear no worker waits for a summary from before it, and the next window is compacted separately', async () => {
  await say(store, 'after', 1, 120)
  await pruneOnce(store, 'after', settings)
  await clear()
  const threadId = threadIdOf(PROJECT, 'after')
  const nowMs = Date.now() + 60_000
  const pending = await findPendingStates(store, { limit: 1_000, createdBeforeMs: nowMs, nowMs })
  expect(pending.filter((work) => work.threadId === threadId)).toEqual([])
  const summarizer = new TestSummarizer()
  await settle(store, 'after', settings, summarizer)
  expect(summarizer.asked).toEqual([])
})
