import { randomUUID } from 'node:crypto'
import type { Measured } from '@heddle/test-support/figure'
import type { Bench } from '../bench.js'
import type { Sizes } from '../catalog.js'
import { interleaved, median, timed } from '../load/statistics.js'
import { conversationOf } from './conversation.js'
import { makeLongThread } from './long-thread.js'
import { BUDGET, build, MESSAGES, noOp, settings, settledThread, settledThreads } from './one-build.js'

/** Fits the whole thread of 1,000 messages: about 62,000 tokens. */
const WIDE_BUDGET = 100_000
const ROUNDS = 5
const BUILDS_PER_ROUND = 15

/**
 * Builds one context after another, from the client's call to its result, with the worker in another process. The
 * ceiling is an empty job of plain BullMQ, from adding it to its end.
 */
export async function measureBuilds(bench: Bench): Promise<Measured[]> {
  const { backend } = bench.servers
  const { client } = bench
  const [thread = '', growing = ''] = await settledThreads(bench, 2)
  const bullMq = await bench.startBullMq()
  const workers = [await bench.startStages('assemble', 'ingest'), await bench.startNoOp('assemble'), bullMq.workers]
  const coldMs = await timed(() => build(client, { thread }))
  const prebuilt = { thread, prebuild: true }
  await build(client, prebuilt)
  const { agent } = await client.threads.get(growing)
  let length = MESSAGES
  const grow = () => client.messages.append({ agent, thread: growing, messages: conversationOf(1, length++) })
  const p50 = await interleaved(ROUNDS, {
    prebuilt: () => p50Of(() => build(client, prebuilt)),
    settled: () => p50Of(() => build(client, { thread })),
    grown: () => p50Of(() => build(client, { thread: growing }), grow),
    wide: () => p50Of(() => build(client, { thread, budget: WIDE_BUDGET })),
    otherBudget: () => p50Of(() => build(client, { thread, budget: BUDGET + 1 })),
    noOp: () => p50Of(() => noOp(bench)),
    bullMq: () => p50Of(() => bullMq.queue.run({ projectId: bench.projectId, contextId: randomUUID() })),
  })
  const ceiling = median(p50.bullMq)
  const own = `${median(p50.noOp).toFixed(2)} ms for such a job by Heddle's own queues`
  const { tokensUsed } = await build(client, { thread, budget: WIDE_BUDGET })
  await Promise.all(workers.map((each) => each.stop()))
  const figure = (name: string, value: number) => ({ name: `build.${name}.${backend}`, value, unit: 'ms', ceiling })
  return [
    { ...figure('thread1k', median(p50.settled)), target: '<= 3', note: own },
    {
      ...figure('prebuilt', median(p50.prebuilt)),
      target: '<= 1.5',
      note: 'found ready: nothing changed since it was built',
    },
    { ...figure('grown', median(p50.grown)), target: '<= 3', note: 'a message was stored since the one before' },
    { ...figure('unsettled', median(p50.otherBudget)), note: 'a budget that no state was made for' },
    { ...figure('cold', coldMs), note: 'the first build of a worker' },
    { ...figure('62k', median(p50.wide)), note: `${tokensUsed} tokens` },
  ]
}

/** The same on a thread of up to a million messages; the ceiling is the build on the short thread. */
export function measureLongBuild(bench: Bench, { messages }: Sizes): Promise<Measured[]> {
  return measureAgainstShort(bench, 'thread1m', messages)
}

const CACHED_MESSAGES = 100_000

/** A thread of 100,000 messages with a finished summary, against one of 1,000. */
export function measureCachedBuild(bench: Bench): Promise<Measured[]> {
  return measureAgainstShort(bench, 'cached100k', CACHED_MESSAGES)
}

async function measureAgainstShort(bench: Bench, name: string, messages: number): Promise<Measured[]> {
  const stages = await bench.startStages('ingest', 'prune', 'summarize', 'embed', 'assemble')
  const short = await settledThread(bench)
  const { states } = await bench.client.threads.get(short)
  const last = states.at(-1)
  const summary = last?.summary ?? ''
  const messagesPerState = Math.max(10, Math.floor((last?.coveredCount ?? MESSAGES) / Math.max(1, states.length)))
  const long = bench.fresh('long')
  await makeLongThread(bench, long, { agent: bench.fresh('long'), settings, messages, messagesPerState, summary })
  const p50 = await interleaved(ROUNDS, {
    long: () => p50Of(() => build(bench.client, { thread: long })),
    short: () => p50Of(() => build(bench.client, { thread: short })),
  })
  await stages.stop()
  return [
    {
      name: `build.${name}.${bench.servers.backend}`,
      value: median(p50.long),
      unit: 'ms',
      ceiling: median(p50.short),
      target: '<= 1.3',
      note: `${messages} messages and ${Math.floor(messages / messagesPerState)} states, written by SQL but for the last 200`,
    },
  ]
}

/** @param before runs before each build and is not measured */
async function p50Of(work: () => Promise<unknown>, before: () => Promise<unknown> = async () => {}): Promise<number> {
  const tookMs: number[] = []
  for (let round = 0; round < BUILDS_PER_ROUND; round++) {
    await before()
    tookMs.push(await timed(work))
  }
  return median(tookMs)
}
