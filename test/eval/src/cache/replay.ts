import type { FormatName, PartialSettings } from '@heddle/contracts'
import { buildContext, type Message, type RenderedPart, renderedParts, sharedPrefixTokens } from '@heddle/core'
import { simulatedInput } from '@heddle/test-support/samples/simulated-input'
import { extractiveSummary, SimulatedThread } from '@heddle/test-support/samples/simulated-thread'
import { namesIn } from '../summary/compactions.js'
import { namesOf } from '../summary/names.js'
import { Account } from './account.js'
import type { RecordedSession } from './sessions.js'

/** Messages after a compaction that show which earlier names were needed, as for `summary.reused`. */
const LATER_MESSAGES_MAX = 200

export interface ReplayOptions {
  readonly settings: PartialSettings
  readonly format: FormatName
  readonly count: (text: string) => number
}

export interface Replay {
  readonly account: Account
  /** Names before a compaction that occur again soon after it: the number that the context still has, and their total. */
  readonly reused: readonly [found: number, all: number]
}

/**
 * Requests a context at each request of a recorded session, with the thread compacted like the pipeline without a
 * model, and a different status each time.
 */
export function replayHeddle(
  { messages, requests }: RecordedSession,
  { settings, format, count }: ReplayOptions,
): Replay {
  const account = new Account()
  const thread = new SimulatedThread(settings, extractiveSummary)
  const reused: [number, number] = [0, 0]
  let before: readonly RenderedPart[] = []
  let stableBeforeTokens = 0
  for (const end of requests) {
    for (const message of messages.slice(thread.stored.length, end)) thread.arrive(message)
    const compactions = thread.series.length
    thread.settle()
    const isCompacted = thread.series.length > compactions
    const status = `answered ${account.requests} requests`
    const context = buildContext(
      simulatedInput(thread, { format, count, thread: { name: 'run', title: null, goal: null, status } }),
    )
    const parts = renderedParts(context, count)
    const sharedTokens = sharedPrefixTokens(before, parts)
    account.add({ sentTokens: context.tokensUsed, sharedTokens, stableBeforeTokens, isCompacted })
    if (isCompacted) {
      const [found, all] = namesReused(messages, end, parts)
      reused[0] += found
      reused[1] += all
    }
    const statusTokens = context.receipt.sections.find(({ name }) => name === 'status')?.tokens ?? 0
    stableBeforeTokens = parts.reduce((sum, { tokens }) => sum + tokens, 0) - statusTokens
    before = parts
  }
  return { account, reused }
}

function namesReused(messages: readonly Message[], end: number, parts: readonly RenderedPart[]): [number, number] {
  const earlier = namesIn(messages.slice(0, end))
  const later = namesIn(messages.slice(end, end + LATER_MESSAGES_MAX))
  const wanted = [...later].filter((name) => earlier.has(name))
  const shown = namesOf(parts.map(({ text }) => text).join('\n'))
  return [wanted.filter((name) => shown.has(name)).length, wanted.length]
}
