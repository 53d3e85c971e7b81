import { expect, it, onTestFinished } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import type { Queues } from '../queues.js'
import { startReconciler } from './reconciler.js'

const EVERY_MS = 15_000

/**
 * @param answers results of the requests for the lease: milliseconds since the last run, null for the lease, or an error of
 *   the store
 */
function reconcilerWith(...answers: (number | null | Error)[]) {
  const clock = new ManualClock()
  const requests: { apartMs: number; atMs: number }[] = []
  let runs = 0
  let isFailing = false
  const startedAtMs = clock.nowMs()
  const reconciler = startReconciler({
    queues: {} as Queues,
    everyMs: EVERY_MS,
    jitterMs: 0,
    async acquireLease(apartMs) {
      requests.push({ apartMs, atMs: clock.nowMs() - startedAtMs })
      const answer = answers.shift() ?? null
      if (answer instanceof Error) throw answer
      return answer
    },
    findWork: async () => {
      runs++
      if (isFailing) throw new Error('the store is down')
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
    for (let tick = 0; tick < 20; tick++) await Promise.resolve()
  }
  const fail = (fails: boolean) => {
    isFailing = fails
  }
  return { requests, pass, fail, runs: () => runs, close: () => reconciler.close() }
}

it('requests the lease as soon as it starts, and does not run while other processes do', async () => {
  // At the start the last run was 3 s ago.
  const { requests, pass, runs } = reconcilerWith(3_000, null, 11_000, null)
  await pass(0)
  expect([requests.at(-1), runs()]).toEqual([{ apartMs: 5_000, atMs: 0 }, 0])
  await pass(2_000)
  expect([requests.at(-1), runs()]).toEqual([{ apartMs: 5_000, atMs: 2_000 }, 1])
  await pass(15_000)
  expect([requests.at(-1), runs()]).toEqual([{ apartMs: 15_000, atMs: 17_000 }, 1])
  await pass(4_000)
  expect([requests.at(-1), runs()]).toEqual([{ apartMs: 15_000, atMs: 21_000 }, 2])
})

it('waits for the full interval after another process has run since it started', async () => {
  const { requests, pass, runs } = reconcilerWith(3_000, 0, 5_000, null)
  await pass(2_000)
  await pass(5_000)
  expect(requests.map(({ apartMs }) => apartMs)).toEqual([5_000, 5_000, 15_000])
  await pass(10_000)
  expect([requests.at(-1), runs()]).toEqual([{ apartMs: 15_000, atMs: 17_000 }, 1])
})

it('keeps the shorter interval while its first run has failed', async () => {
  const { requests, pass, runs, fail } = reconcilerWith(null, null, null)
  fail(true)
  await pass(0)
  fail(false)
  await pass(15_000)
  await pass(15_000)
  expect([requests.map(({ apartMs }) => apartMs), runs()]).toEqual([[5_000, 5_000, 15_000], 3])
})

it('does not run if it is closed while it requests the lease', async () => {
  const { runs, close } = reconcilerWith(null)
  await close()
  expect(runs()).toBe(0)
})

it('requests the lease again after the store was down', async () => {
  const { requests, pass, runs } = reconcilerWith(new Error('the store is down'), null)
  await pass(0)
  await pass(5_000)
  expect([requests, runs()]).toEqual([
    [
      { apartMs: 5_000, atMs: 0 },
      { apartMs: 5_000, atMs: 5_000 },
    ],
    1,
  ])
})
