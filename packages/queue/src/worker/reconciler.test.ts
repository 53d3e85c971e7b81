import { expect, it, onTestFinished } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import type { Queues } from '../queues.js'
import { startReconciler } from './reconciler.js'

const EVERY_MS = 15_000

/** A reconciler that is told how long ago the last look was, null that it is to look, or, by an error, that the store is away. */
function reconcilerWith(...answers: (number | null | Error)[]) {
  const clock = new ManualClock()
  const asked: { apartMs: number; atMs: number }[] = []
  let looks = 0
  let isFailing = false
  const startedAtMs = clock.nowMs()
  const reconciler = startReconciler({
    queues: {} as Queues,
    everyMs: EVERY_MS,
    jitterMs: 0,
    async acquireLease(apartMs) {
      asked.push({ apartMs, atMs: clock.nowMs() - startedAtMs })
      const answer = answers.shift() ?? null
      if (answer instanceof Error) throw answer
      return answer
    },
    findWork: async () => {
      looks++
      if (isFailing) throw new Error('the store is away')
      return []
    },
    findRequests: async () => [],
    publishMissed: async () => 0,
    log: { info: () => {}, warn: () => {} } as never,
    clock,
  })
  onTestFinished(() => reconciler.close())
  const pass = async (ms: number) => {
    await clock.advance(ms)
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  const fail = (fails: boolean) => {
    isFailing = fails
  }
  return { asked, pass, fail, looks: () => looks, close: () => reconciler.close() }
}

it('asks for a turn as soon as it starts, and does not look while others have it', async () => {
  // The last look was 3 s ago when it starts.
  const { asked, pass, looks } = reconcilerWith(3_000, null, 11_000, null)
  await pass(0)
  expect([asked.at(-1), looks()]).toEqual([{ apartMs: 5_000, atMs: 0 }, 0])
  await pass(2_000)
  expect([asked.at(-1), looks()]).toEqual([{ apartMs: 5_000, atMs: 2_000 }, 1])
  await pass(15_000)
  expect([asked.at(-1), looks()]).toEqual([{ apartMs: 15_000, atMs: 17_000 }, 1])
  await pass(4_000)
  expect([asked.at(-1), looks()]).toEqual([{ apartMs: 15_000, atMs: 21_000 }, 2])
})

it('is content with the look of another since it started', async () => {
  const { asked, pass, looks } = reconcilerWith(3_000, 0, 5_000, null)
  await pass(2_000)
  await pass(5_000)
  expect(asked.map(({ apartMs }) => apartMs)).toEqual([5_000, 5_000, 15_000])
  await pass(10_000)
  expect([asked.at(-1), looks()]).toEqual([{ apartMs: 15_000, atMs: 17_000 }, 1])
})

it('asks again as soon where its first look failed', async () => {
  const { asked, pass, looks, fail } = reconcilerWith(null, null, null)
  fail(true)
  await pass(0)
  fail(false)
  await pass(15_000)
  await pass(15_000)
  expect([asked.map(({ apartMs }) => apartMs), looks()]).toEqual([[5_000, 5_000, 15_000], 3])
})

it('does not look any more where it closes while it asks', async () => {
  const { looks, close } = reconcilerWith(null)
  await close()
  expect(looks()).toBe(0)
})

it('asks again where the store was away when it asked', async () => {
  const { asked, pass, looks } = reconcilerWith(new Error('the store is away'), null)
  await pass(0)
  await pass(5_000)
  expect([asked, looks()]).toEqual([
    [
      { apartMs: 5_000, atMs: 0 },
      { apartMs: 5_000, atMs: 5_000 },
    ],
    1,
  ])
})
