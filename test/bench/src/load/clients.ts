import type { Measured } from '@heddle/test-support/figure'
import type { Bench } from '../bench.js'
import type { Sizes } from '../catalog.js'
import { build, noOp, settledThreads } from '../contexts/one-build.js'
import { percentile } from './statistics.js'

const CLIENTS = 64
const THREADS = 4
const DEADLINE_MS = 60_000

/**
 * 64 callers on a few threads, each of which requests the next context as soon as it has the last. Each must get its own
 * answer. The ceiling is the same number of callers of empty jobs.
 */
export async function measureManyClients(bench: Bench, { replies }: Sizes): Promise<Measured[]> {
  const { backend } = bench.servers
  const threads = await settledThreads(bench, THREADS)
  const stages = [await bench.startStages('assemble'), await bench.startNoOp('assemble')]
  // The first calls of a process are not measured.
  await Promise.all(threads.map((thread) => build(bench.client, { thread })))
  const built = await ask(replies, async (index) => {
    const thread = threads[index % THREADS] ?? ''
    const context = await build(bench.client, { thread }, DEADLINE_MS)
    return context.thread === thread
  })
  const nothing = await ask(replies, async () => {
    await noOp(bench)
    return true
  })
  await Promise.all(stages.map((each) => each.stop()))
  const note = `${CLIENTS} clients at once, ${replies} replies; ${built.lost} of them lost`
  return [
    {
      name: `build.clients64.${backend}`,
      value: built.perSecond,
      unit: 'contexts/s',
      ceiling: nothing.perSecond,
      note: `${note}; the ceiling is jobs that do nothing`,
    },
    { name: `build.clients64.p50.${backend}`, value: built.p50Ms, unit: 'ms', ceiling: nothing.p50Ms },
    { name: `build.clients64.p99.${backend}`, value: built.p99Ms, unit: 'ms', ceiling: nothing.p99Ms },
    { name: `build.clients64.lost.${backend}`, value: built.lost, unit: 'replies', target: '<= 0', note },
  ]
}

/** @param work returns whether it got the answer to its own request */
async function ask(count: number, work: (index: number) => Promise<boolean>) {
  const tookMs: number[] = []
  let lost = 0
  let next = 0
  const startedMs = performance.now()
  const client = async () => {
    while (next < count) {
      const index = next++
      const askedMs = performance.now()
      const isRight = await work(index).catch(() => false)
      tookMs.push(performance.now() - askedMs)
      if (!isRight) lost++
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  const seconds = (performance.now() - startedMs) / 1_000
  return { perSecond: count / seconds, p50Ms: percentile(tookMs, 0.5), p99Ms: percentile(tookMs, 0.99), lost }
}
