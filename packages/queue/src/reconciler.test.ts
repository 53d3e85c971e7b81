import { expect, it, onTestFinished } from 'vitest'
import { ManualClock } from '../../../test/support/src/manual-clock.js'
import type { Queues } from './queues.js'
import { startReconciler } from './reconciler.js'

const EVERY_MS = 15_000

/** A reconciler whose turns a test gives: each answer is one, and an error a store that is away. */
function reconcilerWith(...answers: (number | Error)[]) {
  const clock = new ManualClock()
  const asked: { apartMs: number; atMs: number }[] = []
  let looks = 0
  const startedAtMs = clock.nowMs()
  const reconciler = startReconciler({
    queues: {} as Queues,
    everyMs: EVERY_MS,
    jitterMs: 0,
    async takeTurn(apartMs) {
      asked.push({ apartMs, atMs: clock.nowMs() - startedAtMs })
      const answer = answers.shift() ?? EVERY_MS
      if (answer instanceof Error) throw answer
      return answer
    },
    findWork: async () => {
      looks++
      return []
    },
    findRequests: async () => [],
    tellUntold: async () => 0,
    log: { info: () => {}, warn: () => {} } as never,
    clock,
  })
  onTestFinished(() => reconciler.close())
  const pass = async (ms: number) => {
    await clock.advance(ms)
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  return { asked, pass, looks: () => looks }
}

it('asks for a turn as soon as it starts, and does not look while others have it', async () => {
  // The last look was 3 s ago when it starts.
  const { asked, pass, looks } = reconcilerWith(2_000, 0, 4_000, 0)
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
  const { asked, pass, looks } = reconcilerWith(2_000, 5_000, 10_000, 0)
  await pass(2_000)
  await pass(5_000)
  expect(asked.map(({ apartMs }) => apartMs)).toEqual([5_000, 5_000, 15_000])
  await pass(10_000)
  expect([asked.at(-1), looks()]).toEqual([{ apartMs: 15_000, atMs: 17_000 }, 1])
})

it('asks again where the store was away when it asked', async () => {
  const { asked, pass, looks } = reconcilerWith(new Error('the store is away'), 0)
  await pass(0)
  await pass(15_000)
  expect([asked.length, looks()]).toEqual([2, 1])
})
