import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import { laneOf, threadIdOf } from '@heddle/core'
import { prune } from '@heddle/prune'
import { findLaggingThreads, type Store } from '@heddle/store'
import { beforeAll, describe, expect, test } from 'vitest'
import { asking, lanesOf, seriesOf } from './asking.js'
import { freshStore, PROJECT } from './store/support.js'
import { compactionOf, jobFor, pruneOnce, say, settle, summarizeOnce, TestSummarizer } from './summarizing.js'

let store: Store
beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

const settings: PartialSettings = { budget: 6_000, rollingWindow: null }
const LOWER = 3_000
const HIGHER = 9_000

const laneFor = (budget: number) => laneOf(mergeSettings({ ...settings, budget })).key
const ask = (request: Parameters<ReturnType<typeof asking>>[0]) => asking(store, settings)(request)
const settleIn = (thread: string, given = settings) => settle(store, thread, given, new TestSummarizer())

/** The series that a thread has in its own lane, if its own budget is this one. */
async function seriesAlone(budget: number, counts: readonly number[]) {
  const thread = `alone ${budget} ${counts.join(' ')}`
  let from = 1
  for (const count of counts) {
    await say(store, thread, from, count)
    from += count
    await settleIn(thread, { ...settings, budget })
  }
  return await seriesOf(store, thread, laneFor(budget))
}

const isLagging = async (thread: string) => {
  const lagging = await findLaggingThreads(store, { limit: 1_000, nowMs: Date.now() })
  return lagging.some(({ stage, threadId }) => stage === 'prune' && threadId === threadIdOf(PROJECT, thread))
}

describe('a request with a budget that is not the thread’s', () => {
  test('has its lane compacted in the background, as if its budget were the thread’s own', async () => {
    await say(store, 'both', 1, 200)
    await settleIn('both')
    const { outcome } = await ask({ thread: 'both', budget: LOWER })
    expect(outcome.next).toMatchObject([{ wake: 'prune' }])
    expect(await lanesOf(store, 'both')).toEqual([laneFor(LOWER)])
    await settleIn('both')
    await say(store, 'both', 201, 100)
    await settleIn('both')
    const coverage = (series: readonly { coveredCount: number }[]) => series.map(({ coveredCount }) => coveredCount)
    const lower = await seriesOf(store, 'both', laneFor(LOWER))
    expect(coverage(lower)).toEqual(coverage(await seriesAlone(LOWER, [200, 100])))
    expect(lower.at(-1)).toEqual((await seriesAlone(LOWER, [200, 100])).at(-1))
    expect(await seriesOf(store, 'both', laneFor(6_000))).toEqual(await seriesAlone(6_000, [200, 100]))
  })

  test('is answered from its own states once they have a summary, and the receipt names the summarizer', async () => {
    await say(store, 'served', 1, 200)
    await settleIn('served')
    for (const budget of [LOWER, HIGHER]) {
      await ask({ thread: 'served', budget })
      await settleIn('served')
      const { context, outcome } = await ask({ thread: 'served', budget, fill: 'cache' })
      expect(outcome.next).toEqual([])
      const kept = await store.inProject(
        PROJECT,
        async (tx) =>
          await tx<{ id: string; summary: string }[]>`
            select id, summary from heddle.context_states
            where lane = ${laneFor(budget)} and thread_id = ${threadIdOf(PROJECT, 'served')} and status = 'ready'
            order by generation desc limit 1`,
      )
      expect(context.receipt).toMatchObject({ stateId: kept[0]?.id, summarizer: 'test', notes: [] })
      expect(JSON.stringify(context.messages)).toContain(JSON.stringify(kept[0]?.summary).slice(1, -1))
      expect(context.tokensUsed).toBeLessThanOrEqual(budget)
    }
  })

  test('is recorded only from the size on at which its lane needs a compaction', async () => {
    await say(store, 'short', 1, 30)
    await settleIn('short')
    const build = asking(store, settings)
    expect((await build({ thread: 'short', budget: LOWER })).outcome.next).toEqual([])
    expect(await lanesOf(store, 'short')).toEqual([])
    // The same worker, whose cached input only grows.
    await say(store, 'short', 31, 60)
    expect((await build({ thread: 'short', budget: LOWER })).outcome.next).toMatchObject([{ wake: 'prune' }])
    expect(await lanesOf(store, 'short')).toEqual([laneFor(LOWER)])
  })

  test('is recorded once: later requests write nothing and wake nothing', async () => {
    await say(store, 'once', 1, 200)
    await settleIn('once')
    await ask({ thread: 'once', budget: LOWER })
    await settleIn('once')
    const [before] = await rowsOf('once')
    await ask({ thread: 'once', budget: LOWER })
    expect(await rowsOf('once')).toEqual([before])
    expect(await isLagging('once')).toBe(false)
    await store.inProject(PROJECT, (tx) => tx`update heddle.kept_lanes set asked_at = asked_at - interval '6 minutes'`)
    const { outcome } = await ask({ thread: 'once', budget: LOWER })
    expect(outcome.next).toEqual([])
    expect((await rowsOf('once'))[0]?.askedAtMs).toBeGreaterThanOrEqual(before?.askedAtMs ?? 0)
    expect(await isLagging('once')).toBe(false)
  })

  test('leaves a thread behind until its lane is compacted, even if the wake-up is lost or the job killed half way', async () => {
    await say(store, 'killed', 1, 300)
    await settleIn('killed')
    expect(await isLagging('killed')).toBe(false)
    await ask({ thread: 'killed', budget: LOWER })
    expect(await isLagging('killed')).toBe(true)
    const before = await seriesOf(store, 'killed', laneFor(LOWER))
    const { current } = await compactionOf(store, 'killed', settings)
    await pruneKilled('killed')
    expect((await seriesOf(store, 'killed', laneFor(LOWER))).length).toBeGreaterThan(before.length)
    expect(await isLagging('killed')).toBe(true)
    await settleIn('killed')
    expect(await isLagging('killed')).toBe(false)
    const alone = (await seriesAlone(LOWER, [300])).map(({ coveredCount }) => coveredCount)
    expect((await seriesOf(store, 'killed', laneFor(LOWER))).map(({ coveredCount }) => coveredCount)).toEqual(alone)
    expect((await compactionOf(store, 'killed', settings)).current).toEqual(current)
  })

  test('changes nothing when its jobs are delivered again', async () => {
    await say(store, 'again', 1, 200)
    await ask({ thread: 'again', budget: LOWER })
    await settleIn('again')
    const states = () =>
      store.inProject(
        PROJECT,
        async (tx) =>
          await tx`select * from heddle.context_states where thread_id = ${threadIdOf(PROJECT, 'again')} order by id`,
      )
    const before = await states()
    await pruneOnce(store, 'again', settings)
    await summarizeOnce(store, 'again', settings, { of: () => new TestSummarizer() })
    await settleIn('again')
    expect(await states()).toEqual(before)
  })
})

const rowsOf = (thread: string) =>
  store.inProject(
    PROJECT,
    async (tx) =>
      await tx<{ lane: string; askedAtMs: number }[]>`
        select lane, asked_at as asked_at_ms from heddle.kept_lanes where thread_id = ${threadIdOf(PROJECT, thread)}`,
  )

/** A prune job whose worker is killed after its first commit. */
async function pruneKilled(thread: string): Promise<void> {
  const killed = new AbortController()
  const inProject: Store['inProject'] = async (...parameters) => {
    const result = await store.inProject(...parameters)
    killed.abort()
    return result
  }
  await prune({ ...jobFor(thread), signal: killed.signal }, { store: { ...store, inProject }, settings })
}
