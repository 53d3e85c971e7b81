import type { ContextRequest } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { v7 } from 'uuid'
import type { Bench } from './bench.js'
import type { Sizes } from './catalog.js'
import { conversationOf } from './conversation.js'
import { makeLongThread } from './long-thread.js'
import { interleaved, median, timed } from './statistics.js'

const MESSAGES = 1_000
const BUDGET = 16_000
/** Takes the thread of 1,000 messages whole: about 62,000 tokens. */
const WIDE_BUDGET = 100_000
const SETTLE_DEADLINE_MS = 60_000
const ROUNDS = 5
const BUILDS_PER_ROUND = 15
const settings = { budget: BUDGET, rollingWindow: null }

/**
 * Builds one after another, from the client's call to the context in its hands, with the worker in another process. The
 * ceiling is a job that does nothing, from adding it to its reply, on the same way.
 */
export async function measureBuilds(bench: Bench): Promise<Measured[]> {
  const { backend } = bench.servers
  const thread = await settledThread(bench)
  const workers = [await bench.startStages('assemble'), await bench.startNoOp('assemble')]
  const coldMs = await timed(() => build(bench, { thread, budget: BUDGET }))
  const prebuilt = { thread, budget: BUDGET, prebuild: true }
  await build(bench, prebuilt)
  const p50 = await interleaved(ROUNDS, {
    prebuilt: () => p50Of(() => build(bench, prebuilt)),
    settled: () => p50Of(() => build(bench, { thread, budget: BUDGET })),
    wide: () => p50Of(() => build(bench, { thread, budget: WIDE_BUDGET })),
    otherBudget: () => p50Of(() => build(bench, { thread, budget: BUDGET + 1 })),
    noOp: () => p50Of(() => noOp(bench)),
  })
  const ceiling = median(p50.noOp)
  const { tokensUsed } = await build(bench, { thread, budget: WIDE_BUDGET })
  await Promise.all(workers.map((each) => each.stop()))
  const figure = (name: string, value: number) => ({ name: `build.${name}.${backend}`, value, unit: 'ms', ceiling })
  return [
    { ...figure('thread1k', median(p50.settled)), target: '<= 3' },
    {
      ...figure('prebuilt', median(p50.prebuilt)),
      target: '<= 1.5',
      note: 'found ready: nothing changed since it was built',
    },
    { ...figure('unsettled', median(p50.otherBudget)), note: 'a budget that no state was made for' },
    { ...figure('cold', coldMs), note: 'the first build of a worker' },
    { ...figure('62k', median(p50.wide)), note: `${tokensUsed} tokens` },
  ]
}

/** The same on a thread of up to a million messages; its ceiling is the build on the short one. */
export function measureLongBuild(bench: Bench, { messages }: Sizes): Promise<Measured[]> {
  return measureAgainstShort(bench, 'thread1m', messages)
}

const CACHED_MESSAGES = 100_000

/** A thread of 100,000 messages whose summary is there, against one of 1,000. */
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
    long: () => p50Of(() => build(bench, { thread: long, budget: BUDGET })),
    short: () => p50Of(() => build(bench, { thread: short, budget: BUDGET })),
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

/** Returns when every stage has worked up to the thread's head. */
async function settledThread(bench: Bench): Promise<string> {
  const [agent, thread] = [bench.fresh('builder'), bench.fresh('thread')]
  const stages = await bench.startStages('ingest', 'prune', 'summarize', 'embed')
  await bench.client.agents.put(agent, { settings })
  await bench.client.messages.append({ agent, thread, messages: conversationOf(MESSAGES) })
  await bench.client.threads.waitUntilSettled(thread, { deadlineMs: SETTLE_DEADLINE_MS })
  await stages.stop()
  return thread
}

function build({ client }: Bench, request: ContextRequest) {
  return client.contexts.build({ ...request, format: 'openai-chat' })
}

async function noOp({ noOp: queues, projectId }: Bench): Promise<void> {
  const contextId = v7()
  const expected = queues.expectReply({ requestId: contextId, deadlineMs: 10_000, read: async () => true })
  await queues.add('assemble', { projectId, contextId, replyTo: queues.inbox })
  await expected.result
}

async function p50Of(work: () => Promise<unknown>): Promise<number> {
  const tookMs: number[] = []
  for (let build = 0; build < BUILDS_PER_ROUND; build++) tookMs.push(await timed(work))
  return median(tookMs)
}
