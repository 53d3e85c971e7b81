import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import { agentIdOf, laneOf, threadIdOf } from '@heddle/core'
import { clearAgent, redoCompactions, removeExpired, type Store, undoCompactions } from '@heddle/store'
import { beforeAll, describe, expect, test } from 'vitest'
import { asking, lanesOf, seriesOf } from './asking.js'
import { append, appendOne, freshStore, PROJECT, prepared, RECEIVED_AT_MS } from './store/support.js'
import { pruneOnce, say, settle, summarizeOnce, TestSummarizer } from './summarizing.js'

let store: Store

beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

const settings: PartialSettings = { budget: 6_000, rollingWindow: null }
const LOWER = 3_000

const laneFor = (budget: number) => laneOf(mergeSettings({ ...settings, budget })).key
const settleIn = (thread: string, given = settings) => settle(store, thread, given, new TestSummarizer())
const coverage = async (thread: string, budget: number) =>
  (await seriesOf(store, thread, laneFor(budget))).map(({ coveredCount }) => coveredCount)

/** A settled thread with a kept lane. */
async function keptThread(thread: string, count = 200, budgets = [LOWER]): Promise<string> {
  await say(store, thread, 1, count)
  for (const budget of budgets) await asking(store, settings)({ thread, budget })
  await settleIn(thread)
  return threadIdOf(PROJECT, thread)
}

/** The same changes to a thread with a kept lane, and to threads whose own budget is that of one of the lanes. */
async function expectAsAlone(name: string, change: (thread: string) => Promise<unknown>): Promise<void> {
  await keptThread(`${name} kept`)
  await change(`${name} kept`)
  await settleIn(`${name} kept`)
  for (const budget of [6_000, LOWER]) {
    const alone = `${name} alone ${budget}`
    const own = { ...settings, budget }
    await say(store, alone, 1, 200)
    await settleIn(alone, own)
    await change(alone)
    await settleIn(alone, own)
    expect(await coverage(`${name} kept`, budget)).toEqual(await coverage(alone, budget))
    const [kept, single] = [
      await seriesOf(store, `${name} kept`, laneFor(budget)),
      await seriesOf(store, alone, laneFor(budget)),
    ]
    expect(kept.at(-1)).toEqual(single.at(-1))
    expect(kept.at(-1)?.status).toBe('ready')
  }
}

describe('the kept lane of a thread follows', () => {
  test('a late message, which voids the compactions that it precedes', async () => {
    await expectAsAlone('late', async (thread) => {
      const late = {
        id: '00000000-0000-7000-8000-00000000ffff',
        content: `We must keep the log. ${'late '.repeat(30)}`,
      }
      await appendOne(store, append([prepared(late, { orderedAtMs: RECEIVED_AT_MS + 50, ordinal: 7 })], { thread }))
    })
  })

  test('an undone compaction, and its end', async () => {
    const id = '00000000-0000-7000-8000-000000000032'
    const range = { messageId: id }
    const change = (work: typeof undoCompactions) => (thread: string) =>
      store.inProject(PROJECT, (tx) => work(tx, { threadId: threadIdOf(PROJECT, thread), clearEpoch: 0, range }))
    await expectAsAlone('undone', change(undoCompactions))
    await expectAsAlone('redone', async (thread) => {
      await change(undoCompactions)(thread)
      await settleIn(thread, thread.endsWith(`${LOWER}`) ? { ...settings, budget: LOWER } : settings)
      await change(redoCompactions)(thread)
    })
  })
})

describe('the lanes of a thread', () => {
  test('get their summaries even if the summary of another lane fails', async () => {
    const thread = 'failing'
    await say(store, thread, 1, 200)
    await asking(store, settings)({ thread, budget: LOWER })
    await pruneOnce(store, thread, settings)
    const failing = new TestSummarizer('failing')
    failing.failsAfter = 0
    const good = new TestSummarizer('good')
    const of = ({ budget }: { budget?: number | null }) => (budget === LOWER ? good : failing)
    const summarizers = { of: of as never }
    for (let job = 0; job < 3; job++) await pruneOnce(store, thread, settings)
    await expect(summarizeOnce(store, thread, settings, summarizers)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    expect((await seriesOf(store, thread, laneFor(LOWER))).at(-1)).toMatchObject({
      status: 'ready',
      summarizer: 'good',
    })
    expect((await seriesOf(store, thread, laneFor(6_000))).at(-1)).toMatchObject({ status: 'pending', summary: null })
  })

  test('are four besides the own one: a fifth takes the place of the one requested least recently', async () => {
    const thread = 'many'
    const threadId = await keptThread(thread, 400, [2_000, 2_500, 3_000, 3_500])
    await asking(store, settings)({ thread, budget: 4_000 })
    expect(await lanesOf(store, thread)).toHaveLength(4)
    // All were requested lately, so a fifth is not kept before an hour has passed.
    await store.inProject(
      PROJECT,
      (tx) => tx`
        update heddle.kept_lanes set asked_at = asked_at - interval '2 hours' - case lane
          when ${laneFor(3_000)} then interval '1 hour' else interval '0' end
        where thread_id = ${threadId}`,
    )
    await asking(store, settings)({ thread, budget: 4_000 })
    await settleIn(thread)
    expect(await lanesOf(store, thread)).toEqual([2_000, 2_500, 3_500, 4_000].map(laneFor).sort())
    expect(await coverage(thread, 3_000)).toEqual([])
    expect((await coverage(thread, 4_000)).length).toBeGreaterThan(0)
  })

  test('are no longer kept a while after their last request, in bounded steps', async () => {
    const threadId = await keptThread('unasked', 400)
    const states = (await coverage('unasked', LOWER)).length
    expect(states).toBeGreaterThan(2)
    const own = await coverage('unasked', 6_000)
    await store.inProject(
      PROJECT,
      (tx) => tx`update heddle.kept_lanes set asked_at = now() - interval '8 days' where thread_id = ${threadId}`,
    )
    const steps: number[] = []
    for (;;) {
      const removed = await removeExpired(store, {
        kind: 'keptLanes',
        beforeMs: Date.now() - 7 * 86_400_000,
        limit: 2,
      })
      if (removed === 0) break
      steps.push(removed)
    }
    expect(steps.every((count) => count <= 3)).toBe(true)
    expect(steps.reduce((sum, count) => sum + count, 0)).toBe(states + 1)
    expect(await lanesOf(store, 'unasked')).toEqual([])
    expect(await coverage('unasked', LOWER)).toEqual([])
    expect(await coverage('unasked', 6_000)).toEqual(own)
  })

  test('are passed over while the settings of the agent lead elsewhere, and become the own one if these lead there', async () => {
    const thread = 'changed'
    await keptThread(thread)
    const before = await coverage(thread, LOWER)
    const others: PartialSettings = { ...settings, maxSummaryTokens: 300 }
    await say(store, thread, 201, 100)
    await settleIn(thread, others)
    expect(await coverage(thread, LOWER)).toEqual(before)
    await asking(store, others)({ thread, budget: LOWER })
    await settleIn(thread, others)
    const lane = laneOf(mergeSettings({ ...others, budget: LOWER })).key
    expect((await seriesOf(store, thread, lane)).at(-1)).toMatchObject({ status: 'ready' })

    await settleIn(thread, { ...settings, budget: LOWER })
    expect(await lanesOf(store, thread)).toEqual([lane])
    const grown = await coverage(thread, LOWER)
    expect(grown.slice(0, before.length)).toEqual(before)
    expect(grown.length).toBeGreaterThan(before.length)
  })

  test('are void after a clear, and begin again with the messages after it', async () => {
    const thread = 'cleared'
    await keptThread(thread)
    await say(store, thread, 201, 100)
    await pruneOnce(store, thread, settings)
    await store.inProject(PROJECT, (tx) =>
      clearAgent(tx, { agentId: agentIdOf(PROJECT, 'weaver'), clearedAtMs: RECEIVED_AT_MS - 1 }),
    )
    const count = (await coverage(thread, LOWER)).length
    await settleIn(thread)
    expect((await coverage(thread, LOWER)).length).toBeLessThanOrEqual(count)
    await say(store, thread, 301, 150)
    await settleIn(thread)
    const { context } = await asking(store, settings)({ thread, budget: LOWER, fill: 'cache' })
    expect(context.receipt).toMatchObject({ clearEpoch: 1, eligible: 150, summarizer: 'test' })
    expect((await seriesOf(store, thread, laneFor(LOWER))).at(-1)).toMatchObject({ status: 'ready' })
  })
})
