import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import { laneOf, threadIdOf } from '@heddle/core'
import type { Store, Tx } from '@heddle/store'
import { beforeAll, expect, test } from 'vitest'
import { asking, seriesOf } from './asking.js'
import { freshStore, PROJECT } from './store/support.js'
import { say, settle, TestSummarizer } from './summarizing.js'

let store: Store
beforeAll(async () => {
  const fresh = await freshStore()
  store = fresh.store
  return fresh.drop
})

const settings: PartialSettings = { budget: 6_000, rollingWindow: null }
/** Holds the whole thread of 200 messages, so that its lane is never compacted and has no states. */
const WIDE = 60_000
const FIRST_MESSAGES = 200

/** A worker whose cache stays, and the number of fragments of SQL that its last context needed. */
function counted() {
  let fragments = 0
  const count: ProxyHandler<Tx> = {
    apply(tag, self, given) {
      fragments++
      return Reflect.apply(tag, self, given)
    },
  }
  const inProject: Store['inProject'] = (project, work, options) =>
    store.inProject(project, (tx) => work(new Proxy(tx, count)), options)
  const counting: Store = Object.create(store, { inProject: { value: inProject } })
  const build = asking(counting, settings)
  return async (request: Parameters<typeof build>[0]) => {
    fragments = 0
    const { context } = await build(request)
    return { context, fragments }
  }
}

/** The context as a worker builds it that has read nothing before. */
const cold = async (request: Parameters<ReturnType<typeof asking>>[0]) =>
  comparable((await asking(store, settings)(request)).context)

/** Without its id, and without the tokens shared with the context before, which differ between two requests. */
function comparable({ id: _, receipt, ...context }: Awaited<ReturnType<ReturnType<typeof asking>>>['context']) {
  const { sharedPrefixTokens: __, ...rest } = receipt
  return { ...context, receipt: rest }
}

test('a budget above that of the agent is read once, like the agent’s own, and then only what has changed', async () => {
  await say(store, 'repeated', 1, FIRST_MESSAGES)
  await settle(store, 'repeated', settings, new TestSummarizer())
  const build = counted()
  const asked = async (budget: number) => {
    const request = { thread: 'repeated', budget }
    await build(request)
    return await build(request)
  }
  const [own, wide] = [await asked(6_000), await asked(WIDE)]
  expect(wide.context.receipt.fill).toBe('budget')
  // An own context may store one statement more or less, as it is compared with another context before it.
  expect(Math.abs(wide.fragments - own.fragments)).toBeLessThanOrEqual(2)
})

test('contexts beside a state of the agent’s own lane are those of a new worker, while the thread grows and is compacted', async () => {
  const thread = 'grown'
  await say(store, thread, 1, FIRST_MESSAGES)
  await settle(store, thread, settings, new TestSummarizer())
  const build = counted()
  const request = { thread, budget: WIDE }
  const first = await build(request)
  const ownSeries = () => seriesOf(store, thread, laneOf(mergeSettings(settings)).key)
  const before = await ownSeries()
  for (let from = FIRST_MESSAGES + 1; from <= FIRST_MESSAGES + 240; from += 40) {
    await say(store, thread, from, 40)
    const warm = await build(request)
    expect(warm.fragments).toBeLessThan(first.fragments)
    expect(comparable(warm.context)).toEqual(await cold(request))
    await settle(store, thread, settings, new TestSummarizer())
    const { context } = await build(request)
    expect(comparable(context)).toEqual(await cold(request))
  }
  // Otherwise the loop has shown nothing about states that are replaced.
  expect((await ownSeries()).length).toBeGreaterThan(before.length)
})

test('a state that stands in for a lower budget is read again once it is replaced', async () => {
  const thread = 'replaced'
  const settled = () => settle(store, thread, settings, new TestSummarizer())
  await say(store, thread, 1, FIRST_MESSAGES)
  await settled()
  const build = counted()
  const request = { thread, budget: 5_000, fill: 'cache' as const }
  const stood = [await build(request), await build(request), await build(request)].map(({ context }) => context.receipt)
  expect(new Set(stood.map(({ stateId }) => stateId)).size).toBe(1)
  // Like a lane that nobody asks for any more: it gets no state of its own, so the agent's goes on standing in for it.
  await store.inProject(
    PROJECT,
    (tx) => tx`delete from heddle.kept_lanes where thread_id = ${threadIdOf(PROJECT, thread)}`,
  )
  await say(store, thread, FIRST_MESSAGES + 1, 100)
  await settled()
  const { context } = await build(request)
  expect(context.receipt.stateId).not.toBe(stood[0]?.stateId)
  expect(comparable(context)).toEqual(await cold(request))
})

test('the first state of the agent’s own lane is noticed by a request that was cached before it', async () => {
  const thread = 'first state'
  await say(store, thread, 1, 120)
  const build = counted()
  const request = { thread, budget: 12_000 }
  // Continued at this budget, it is filled for caching, and its input grows from then on.
  for (let from = 121; from <= 150; from += 10) {
    await build(request)
    await say(store, thread, from, 10)
  }
  await build(request)
  await settle(store, thread, settings, new TestSummarizer())
  await say(store, thread, 151, 1)
  const { context } = await build(request)
  expect(comparable(context)).toEqual(await cold(request))
})
