import type { NewMessage } from '@heddle/client/interface'
import type { Measured } from '@heddle/test-support/figure'
import type { Bench } from '../bench.js'
import { conversationOf } from '../contexts/conversation.js'
import { makeLongThread } from '../contexts/long-thread.js'
import { interleaved, median, percentile, timed } from '../load/statistics.js'
import { allStages, p50Of, settings } from './one-turn.js'

const ROUNDS = 6
/** Turns of each way before the first round: after 100, a tenth of a turn is still compilation in both processes. */
const WARMING_TURNS = 500
const TURNS_PER_ROUND = 30
const ASKED_BUDGET = 32_000
const SHORT_MESSAGES = 1_000
const LONGER = { full10k: 10_000, full100k: 100_000 }
const SETTLE_DEADLINE_MS = 60_000
/** The first request of a budget has the whole thread compacted for it. */
const KEPT_DEADLINE_MS = 300_000

/**
 * The turn of an agent: append one message, wait until it is stored, request a context for a budget that is not the
 * agent's, in two calls (`full`) or in one (`one`). One caller, workers of all stages in one other process.
 *
 * The first request of each thread is a figure of its own (`first`): the thread is compacted for its budget then, which the
 * turns wait for.
 */
export async function measureFullTurns(bench: Bench): Promise<Measured[]> {
  const { backend } = bench.servers
  const { client } = bench
  const workers = await bench.startStages(...allStages)
  const agent = bench.fresh('turns')
  await client.agents.put(agent, { settings })
  const short = bench.fresh('full1k')
  await client.messages.append({ agent, thread: short, messages: conversationOf(SHORT_MESSAGES) })
  await client.threads.waitUntilSettled(short, { deadlineMs: SETTLE_DEADLINE_MS })
  const { states } = await client.threads.get(short)
  const last = states.at(-1)
  const messagesPerState = Math.max(10, Math.floor((last?.coveredCount ?? SHORT_MESSAGES) / Math.max(1, states.length)))
  const threads: Record<string, { agent: string; thread: string }> = { full1k: { agent, thread: short } }
  for (const [name, messages] of Object.entries(LONGER)) {
    const thread = bench.fresh(name)
    const own = bench.fresh('turns')
    await makeLongThread(bench, thread, {
      agent: own,
      settings,
      messages,
      messagesPerState,
      summary: last?.summary ?? '',
    })
    threads[name] = { agent: own, thread }
  }
  const request = { budget: ASKED_BUDGET, format: 'openai-chat' } as const
  const firstMs = new Map<string, number>()
  for (const [name, { thread }] of Object.entries(threads)) {
    firstMs.set(name, await timed(() => client.contexts.build({ ...request, thread })))
    await client.threads.waitUntilSettled(thread, { deadlineMs: KEPT_DEADLINE_MS })
  }
  const tookMs: Record<string, number[]> = {}
  type Turn = (thread: { agent: string; thread: string }, messages: readonly NewMessage[]) => Promise<unknown>
  const inTwoCalls: Turn = async ({ agent, thread }, messages) => {
    await client.messages.append({ agent, thread, messages })
    await client.contexts.build({ ...request, thread })
  }
  const inOneCall: Turn = (thread, append) => client.contexts.build({ ...request, ...thread, append })
  const warm = { agent, thread: bench.fresh('warm') }
  await client.messages.append({ ...warm, messages: conversationOf(SHORT_MESSAGES) })
  for (const turn of [inTwoCalls, inOneCall])
    await p50Of(WARMING_TURNS, (call) => timed(() => turn(warm, conversationOf(1, call))))
  await client.threads.waitUntilSettled(warm.thread, { deadlineMs: SETTLE_DEADLINE_MS })
  const turnsOf =
    (name: string, turn = inTwoCalls, thread = name) =>
    () =>
      p50Of(TURNS_PER_ROUND, async (call) => {
        const ms = await timed(() =>
          turn(threads[thread] as { agent: string; thread: string }, conversationOf(1, call)),
        )
        tookMs[name] = [...(tookMs[name] ?? []), ms]
        return ms
      })
  const p50 = await interleaved(ROUNDS, {
    one1k: turnsOf('one1k', inOneCall, 'full1k'),
    full1k: turnsOf('full1k'),
    full10k: turnsOf('full10k'),
    full100k: turnsOf('full100k'),
  })
  const workerBytes = await workers.peakBytes()
  await workers.stop()
  const note = (name: string) =>
    `p99 ${percentile(tookMs[name] ?? [], 0.99).toFixed(1)} ms; budget ${ASKED_BUDGET}, the agent's ${settings.budget}`
  const figure = (name: keyof typeof p50) => ({
    name: `turn.${name}.${backend}`,
    value: median(p50[name]),
    unit: 'ms',
    note: note(name),
  })
  const ceiling = median(p50.full1k)
  const first = (name: keyof typeof p50) => ({
    name: `turn.${name.replace('full', 'first')}.${backend}`,
    value: firstMs.get(name) ?? 0,
    unit: 'ms',
    note: `one request, of a new worker; budget ${ASKED_BUDGET}, the agent's ${settings.budget}`,
  })
  return [
    ...(['full1k', 'full10k', 'full100k'] as const).map(first),
    { ...figure('one1k'), target: '<= 12' },
    { ...figure('full1k'), target: '<= 15' },
    { ...figure('full10k'), ceiling, target: '<= 1.2' },
    { name: `turn.memory.${backend}`, value: workerBytes / 1e6, unit: 'MB', target: '<= 300' },
    { ...figure('full100k'), ceiling, target: '<= 1.2' },
  ]
}
