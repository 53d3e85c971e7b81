import { HeddleError, mergeSettings, type PartialSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { conversationOf, conversationSteps, type Step } from '../../../../test/support/src/samples/conversations.js'
import { SimulatedThread } from '../../../../test/support/src/samples/simulated-thread.js'
import { validateAnthropic, validateOpenAiChat } from '../../../../test/support/src/validators/index.js'
import { buildContext } from '../assembly/build.js'
import type { BuildInput } from '../assembly/input.js'
import { readConversation } from '../conversation/conversation.js'
import { ineligibleReason } from '../conversation/eligibility.js'
import type { Message } from '../conversation/message.js'
import { comparePositions, inConversationOrder } from '../conversation/order.js'
import { summarySources } from '../summarizing/sources.js'
import { summarizeExtractively } from '../summarizing/summarize.js'
import { estimateTokens } from '../tokens/tokens.js'
import { checkSummary } from './check-summary.js'
import { rawCost } from './costs.js'
import { usageBelowTrigger, usageUnder } from './growth.js'
import { nextCompaction } from './plan.js'
import { settle } from './settle.js'
import { type CompactionState, isOvertaken } from './state.js'
import { summaryTokensMax } from './state-costs.js'

/** Raise it for a longer search. */
const RUNS = propertyRuns(144)
/** Shrinking a history of a hundred messages takes minutes, so a failure only reports its seed. */
const EACH = { numRuns: RUNS, endOnFailure: true }
const TIMEOUT_MS = 60_000 + RUNS * 100

const reference = ({ code }: Pick<Message, 'code'>) => `msg-${code}`

/** All fields of a state except the head at the time its worker ran. */
const shape = (state: CompactionState) => ({
  ...state,
  headSeq: 0,
  prunings: [...state.prunings.values()].sort((left, right) => (left.messageId < right.messageId ? -1 : 1)),
})

const settings: fc.Arbitrary<PartialSettings> = fc.record({
  budget: fc.integer({ min: 800, max: 8_000 }),
  sandwich: fc.record({
    preserveTop: fc.integer({ min: 0, max: 8 }),
    preserveBottom: fc.integer({ min: 0, max: 8 }),
    compressionThreshold: fc.constantFrom(0.05, 0.3, 0.7, 1),
  }),
  prune: fc.record({
    keepLastN: fc.integer({ min: 0, max: 12 }),
    condenseAfterN: fc.integer({ min: 0, max: 8 }),
    removeErrorsAfter: fc.integer({ min: 0, max: 8 }),
  }),
})

/** Protocol text in conversations about agents; a summary must not repeat it verbatim. */
const PROTOCOL_TALK = [
  'Please never put <|im_start|> or <|endoftext|> before `<function_calls><invoke name="x">` in src/prompt.ts.',
  'I decided to keep </tool_call> because of <tool_use id="1"> in src/parser.ts. None',
].join('\n')

/**
 * Complete conversations, with tied times, with clock skew that sorts results before their calls and interleaves turns,
 * with pins anywhere, and with messages that no context shows.
 */
const histories: fc.Arbitrary<Message[]> = fc
  .tuple(
    conversationSteps(90),
    fc.array(fc.record({ at: fc.nat(), shift: fc.integer({ min: -9, max: 9 }) }), { maxLength: 12 }),
    fc.array(fc.record({ at: fc.nat(), what: fc.constantFrom('pin', 'undone', 'error', 'aside', 'tie', 'protocol') }), {
      maxLength: 6,
    }),
  )
  .map(([steps, shifts, marks]: [Step[], { at: number; shift: number }[], { at: number; what: string }[]]) => {
    const messages = conversationOf(steps)
    for (const { at, shift } of shifts) {
      const index = at % messages.length
      const message = messages[index]
      if (message) messages[index] = { ...message, orderedAtMs: message.orderedAtMs + shift * 1_000 + 500 }
    }
    for (const { at, what } of marks) {
      const index = at % messages.length
      const message = messages[index]
      if (!message) continue
      if (what === 'pin') messages[index] = { ...message, pinned: true }
      if (what === 'undone') messages[index] = { ...message, undone: true }
      if (what === 'error') messages[index] = { ...message, role: 'error' }
      if (what === 'aside') messages[index] = { ...message, keptAside: 'compact-summary' }
      if (what === 'protocol') messages[index] = { ...message, content: PROTOCOL_TALK }
      if (what === 'tie') messages[index] = { ...message, orderedAtMs: messages[index - 1]?.orderedAtMs ?? 1 }
    }
    return inConversationOrder(messages)
  })

/** For each message: its delivery delay, and how many steps a worker runs after it arrived. */
const deliveries = fc.array(
  fc.record({
    delay: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 40 })),
    steps: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.constantFrom(1, 2, 5, 100)),
  }),
  { minLength: 1, maxLength: 60 },
)

function arrivals(messages: readonly Message[], under: readonly { delay: number; steps: number }[]) {
  const planned = messages.map((message, index) => {
    const { delay, steps } = under[index % under.length] ?? { delay: 0, steps: 0 }
    return { message, at: index + delay, steps }
  })
  return planned.sort((left, right) => left.at - right.at)
}

function settledAtOnce(messages: readonly Message[], chosen: PartialSettings): SimulatedThread {
  const thread = new SimulatedThread(chosen)
  for (const message of messages) thread.arrive(message)
  thread.settle()
  return thread
}

test(
  'a context that is known to grow below its trigger needs no compaction, and is known to the token',
  () => {
    const runs = Math.ceil(RUNS / 4)
    let grown = 0
    fc.assert(
      fc.property(histories, settings, deliveries, (history, given, under) => {
        const thread = new SimulatedThread({ ...given, budget: (given.budget ?? 0) * 3 })
        const eligible = () => thread.uncovered(thread.state).filter((message) => ineligibleReason(message) === null)
        let known: number | null = null
        for (const { message } of arrivals(history, under)) {
          thread.arrive(message)
          known = known === null ? null : usageBelowTrigger(known, thread.stored.slice(-1), thread.state, thread.lane)
          if (known !== null) {
            grown++
            expect(thread.state !== null && eligible().some((each) => isOvertaken(thread.state as never, each))).toBe(
              false,
            )
            expect(nextCompaction(readConversation(eligible()), thread.state, thread.lane, reference)).toBeNull()
          } else thread.settle()
          const usage = usageUnder(eligible(), thread.state, thread.lane)
          if (known !== null) expect(known).toBe(usage)
          known = usage
        }
      }),
      { ...EACH, numRuns: runs },
    )
    expect(grown).toBeGreaterThan(10 * runs)
  },
  TIMEOUT_MS,
)

describe('the series of compactions of a thread', { timeout: TIMEOUT_MS }, () => {
  test('does not depend on the arrival order of messages, or on when workers run', () => {
    fc.assert(
      fc.property(histories, settings, deliveries, (messages, chosen, under) => {
        const thread = new SimulatedThread(chosen)
        for (const { message, steps } of arrivals(messages, under)) {
          thread.arrive(message)
          thread.work(steps)
        }
        thread.settle()
        expect(thread.series.map(shape)).toEqual(settledAtOnce(messages, chosen).series.map(shape))
      }),
      EACH,
    )
  })

  test('accounts for each message once at every moment: raw, condensed, removed, or in the one covered range', () => {
    fc.assert(
      fc.property(histories, settings, deliveries, (messages, chosen, under) => {
        const thread = new SimulatedThread(chosen)
        for (const { message, steps } of arrivals(messages, under)) {
          thread.arrive(message)
          thread.work(steps)
          expectAccounted(thread)
        }
        thread.settle()
        expectAccounted(thread)
      }),
      EACH,
    )
  })

  test('ends in the same state as the in-memory fallback, which has no store', () => {
    fc.assert(
      fc.property(histories, settings, (messages, chosen) => {
        const { series, lane, stored } = settledAtOnce(messages, chosen)
        const last = series.at(-1)
        const fallback = settle(stored, null, lane, stored.length, reference)
        const decided = (state: CompactionState | null | undefined) =>
          state && { ...shape(state), summary: state.summary !== null, summaryTokens: 0 }
        expect(decided(fallback)).toEqual(decided(last ?? null))
      }),
      EACH,
    )
  })

  test('only grows: each compaction covers what the previous one covered, from the same beginning', () => {
    fc.assert(
      fc.property(histories, settings, (messages, chosen) => {
        const thread = settledAtOnce(messages, chosen)
        for (const [index, state] of thread.series.entries()) {
          const before = thread.series[index - 1]
          if (!before) continue
          expect(comparePositions(before.point, state.point)).toBeLessThan(0)
          if (!before.covered || !state.covered) {
            expect(before.covered).toBeNull()
            continue
          }
          expect(state.covered.from).toEqual(before.covered.from)
          expect(comparePositions(before.covered.to, state.covered.to)).toBeLessThanOrEqual(0)
          const now = new Set(thread.coveredBy(state).map((message) => message.id))
          expect(thread.coveredBy(before).filter((message) => !now.has(message.id))).toEqual([])
        }
      }),
      EACH,
    )
  })

  test('leaves a context that both providers accept within the budget, however often it compacted', () => {
    fc.assert(
      fc.property(histories, settings, deliveries, (messages, chosen, under) => {
        const thread = new SimulatedThread(chosen)
        for (const [index, { message, steps }] of arrivals(messages, under).entries()) {
          thread.arrive(message)
          thread.work(steps)
          if (index % 20 === 19) expectValidContexts(thread)
        }
        thread.settle()
        expectValidContexts(thread)
      }),
      EACH,
    )
  })

  test('never requests a summary that the extractive summarizer could not make', () => {
    fc.assert(
      fc.property(histories, settings, (messages, chosen) => {
        const thread = settledAtOnce(messages, chosen)
        for (const state of thread.series.filter((one) => one.covered)) {
          const { messages: covered, pairs } = readConversation(thread.coveredBy(state))
          const tokensMax = summaryTokensMax(thread.lane)
          const summary = summarizeExtractively({
            purpose: 'compaction',
            messages: summarySources(covered, pairs, reference),
            previousSummary: null,
            tokensMax,
          })
          const replacedTokens = covered.reduce((sum, message) => sum + rawCost(message), 0)
          checkSummary(summary, { tokensMax, replacedTokens })
        }
      }),
      EACH,
    )
  })
})

function expectAccounted(thread: SimulatedThread): void {
  const { state } = thread
  if (state === null) return
  const covered = new Set(thread.coveredBy(state).map((message) => message.id))
  const left = thread.uncovered(state)
  expect(left.filter((message) => covered.has(message.id))).toEqual([])
  const accounted = new Set([...covered, ...left.map((message) => message.id)])
  const all = thread.stored.filter((message) => ineligibleReason(message) === null)
  expect(all.filter((message) => !accounted.has(message.id))).toEqual([])
  for (const message of all.filter((one) => one.pinned)) {
    expect(covered.has(message.id)).toBe(false)
    expect(state.prunings.has(message.id)).toBe(false)
  }
}

function expectValidContexts(thread: SimulatedThread): void {
  const { state } = thread
  const messages = thread.uncovered(state)
  const covered = state === null ? 0 : thread.coveredBy(state).length
  const eligible = thread.stored.filter((message) => ineligibleReason(message) === null).length
  for (const format of ['openai-chat', 'anthropic'] as const) {
    const context = builtOrRefused({
      agent: { name: 'coder', version: 1, systemPrompt: 'You write code.', docs: [] },
      thread: { name: 'run', title: null, goal: null, status: null },
      request: { thread: 'run', message: 'go on' },
      settings: mergeSettings(thread.settings),
      format,
      counter: 'o200k',
      count: estimateTokens,
      messages,
      unloaded: [{ mode: 'covered', count: covered, tokens: 0, reason: 'summarized' }],
      ineligible: {},
      imported: eligible,
      state,
      stateId: null,
      headSeq: thread.stored.length,
      clearEpoch: 0,
      reference,
    })
    if (context === null) continue
    const violations =
      format === 'anthropic' ? validateAnthropic(context as never) : validateOpenAiChat(context.messages as never)
    expect(violations).toEqual([])
    expect(context.tokensUsed).toBeLessThanOrEqual(context.budget)
    expect(context.receipt.eligible).toBe(eligible)
  }
}

/** Null if the budget is too small for the messages that must stay. */
function builtOrRefused(input: BuildInput) {
  try {
    return buildContext(input)
  } catch (error) {
    if (error instanceof HeddleError && error.code === 'BUDGET_TOO_SMALL') return null
    throw error
  }
}
