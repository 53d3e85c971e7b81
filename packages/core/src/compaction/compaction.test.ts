import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { conversations, sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { readConversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { comparePositions } from '../conversation/order.js'
import { laneOf } from '../strategies/lane-of.js'
import { dueTokens, isCompactionDue, triggerTokens } from './lane.js'
import { nextCompaction } from './plan.js'
import { settle } from './settle.js'
import { type CompactionState, isCovered, isOvertaken } from './state.js'
import { costUnder } from './state-costs.js'

const reference = (message: Message) => `msg-${message.code}`
const lane = (budget: number) => laneOf(mergeSettings({ budget }))
const settled = (messages: readonly Message[], from: CompactionState | null, budget: number) =>
  settle(messages, from, lane(budget), messages.at(-1)?.seq ?? 0, reference)

/** All fields of a state except the head at the time its worker ran. */
const shape = (state: CompactionState | null) =>
  state && { ...state, headSeq: 0, prunings: [...state.prunings].sort(([left], [right]) => (left < right ? -1 : 1)) }

test("a lane's key depends on custom tools, and an agent's tools override those of the file", () => {
  const peek = { names: ['peek'], kind: 'file_view' as const }
  const own = laneOf(mergeSettings({ tools: [peek] }, { tools: [{ ...peek, kind: 'grep' }] }))
  expect(own.key).not.toBe(laneOf(mergeSettings({ tools: [peek] })).key)
  expect(own.tools.map(({ kind }) => kind)).toEqual(['grep', 'file_view'])
  expect(laneOf(mergeSettings({ tools: [] })).key).toBe(laneOf(mergeSettings({})).key)
})

describe('the trigger', () => {
  test('leaves a fifth of a limit, or 20,000 tokens of one over 200,000', () => {
    expect([100_000, 200_000, 1_000_000].map(triggerTokens)).toEqual([80_000, 160_000, 980_000])
  })

  test('is not awaited past the threshold of a strategy, by a conversation with more messages than it keeps', () => {
    const talk = (count: number, characters: number) =>
      Array.from({ length: count }, (_, index) =>
        sampleMessage({ seq: index + 1, content: 'x '.repeat(characters / 2), role: index % 2 ? 'assistant' : 'user' }),
      )
    const usageAt = (messages: readonly Message[], settings: PartialSettings) => {
      const own = laneOf(mergeSettings(settings))
      const plan = nextCompaction(readConversation(messages), null, own, reference)
      if (plan === null) return null
      const before = messages.filter((message) => comparePositions(message, plan.point) <= 0)
      return before.reduce((sum, message) => sum + costUnder(message, null), 0) / own.limitTokens
    }
    const long = talk(400, 2_000)
    for (const strategy of ['sandwich', 'tree']) {
      expect(usageAt(long, { budget: 100_000, strategy })).toBeCloseTo(0.7, 1)
      expect(usageAt(long, { budget: 100_000, strategy })).toBeLessThan(0.72)
    }
    expect(usageAt(long, { budget: 100_000, sandwich: { compressionThreshold: 0.4 } })).toBeLessThan(0.42)
    expect(usageAt(long, { budget: 100_000, sandwich: { compressionThreshold: 1 } })).toBeGreaterThanOrEqual(0.8)
    expect(usageAt(talk(600, 8_000), { model: 'gpt-4.1', maxOutputTokens: 47_576 })).toBeLessThan(0.72)
    // Ten large messages are all kept, and pruned only at the trigger.
    expect(usageAt(talk(10, 29_200), { budget: 100_000 })).toBeNull()
    expect(usageAt(talk(14, 21_200), { budget: 100_000 })).toBeGreaterThan(0.7)
  })

  test('agrees with needsCompression of the strategy', () => {
    fc.assert(
      fc.property(conversations(), fc.integer({ min: 600, max: 20_000 }), (messages, budget) => {
        const own = lane(budget)
        const usage = messages.reduce((sum, message) => sum + costUnder(message, null), 0)
        const isNeeded = own.strategy.needsCompression(messages, own.limitTokens, usage)
        const isDue = isCompactionDue(own, { usage, messages: messages.length, isCovered: false })
        expect(isDue).toBe(isNeeded || usage >= triggerTokens(own.limitTokens))
        if (isDue) expect(usage).toBeGreaterThanOrEqual(dueTokens(own))
      }),
      { numRuns: propertyRuns(60) },
    )
  })

  test('does not touch a conversation below it', () => {
    const messages = Array.from({ length: 50 }, (_, index) => sampleMessage({ seq: index + 1 }))
    expect(settled(messages, null, 100_000)).toBeNull()
  })

  test('ignores the token counts of contexts that can only be of another budget', () => {
    const contextId = '018f0000-0000-7000-8000-000000000001'
    const answering = (tokens: number) =>
      Array.from({ length: 120 }, (_, index) =>
        sampleMessage({
          seq: index + 1,
          content: 'x'.repeat(4_000),
          role: index % 2 ? 'assistant' : 'user',
          ...(index % 2 && { contextId, usage: { input_tokens: tokens } }),
        }),
      )
    const pointOf = (messages: readonly Message[], budget: number) =>
      nextCompaction(readConversation(messages), null, lane(budget), reference)?.point
    const own = answering(0)
    // Contexts of 12,000 tokens for a lane of 100,000, and the other way round.
    expect(pointOf(own, 100_000)).toBeDefined()
    expect(pointOf(answering(12_000), 100_000)?.orderedAtMs).toBeLessThanOrEqual(
      (pointOf(own, 100_000)?.orderedAtMs ?? 0) + 25_000,
    )
    expect(pointOf(own, 12_000)).toBeDefined()
    expect(pointOf(answering(80_000), 12_000)).toEqual(pointOf(own, 12_000))
  })

  test('uses the token count that a provider reported if the reply names its context', () => {
    const usage = { input_tokens: 90_000, output_tokens: 100 }
    const contextId = '018f0000-0000-7000-8000-000000000001'
    const grown = (reply: Partial<Message>) =>
      Array.from({ length: 40 }, (_, index) =>
        sampleMessage({
          seq: index + 1,
          content: 'x'.repeat(4_000),
          role: index % 2 ? 'assistant' : 'user',
          ...(index === 39 && reply),
        }),
      )
    expect(nextCompaction(readConversation(grown({ usage })), null, lane(100_000), reference)).toBeNull()
    expect(nextCompaction(readConversation(grown({ usage, contextId })), null, lane(100_000), reference)).not.toBeNull()
  })
})

describe('the series of compactions', () => {
  test('is the same for a worker that wakes at every message and for one that wakes once', () => {
    fc.assert(
      fc.property(
        conversations(),
        fc.integer({ min: 1_000, max: 8_000 }),
        fc.integer({ min: 1, max: 9 }),
        (messages, budget, stride) => {
          let state: CompactionState | null = null
          for (let length = stride; length < messages.length; length += stride) {
            state = settledWithSummariesFromScratch(messages.slice(0, length), state, budget)
          }
          state = settledWithSummariesFromScratch(messages, state, budget)
          expect(shape(state)).toEqual(shape(settledWithSummariesFromScratch(messages, null, budget)))
        },
      ),
      { numRuns: propertyRuns(40) },
    )
  })

  /** As the pipeline does it: one compaction after another, each summary made from the whole covered range. */
  function settledWithSummariesFromScratch(messages: readonly Message[], from: CompactionState | null, budget: number) {
    const conversation = readConversation(messages)
    let state = from
    for (;;) {
      const plan = nextCompaction(conversation, state, lane(budget), reference)
      if (!plan) return state
      const next: CompactionState = {
        point: plan.point,
        headSeq: messages.at(-1)?.seq ?? 0,
        topIds: plan.topIds,
        covered: plan.covered,
        summary: null,
        summaryTokens: state?.summaryTokens ?? 0,
        prunings: new Map([
          ...(state?.prunings ?? []),
          ...plan.prunings.map((pruning) => [pruning.messageId, pruning] as const),
        ]),
      }
      if (plan.needsSummary) {
        const covered = conversation.messages.filter((message) => isCovered(message, next))
        state = { ...next, summary: `${covered.length} messages`, summaryTokens: 40 }
      } else state = { ...next, summary: state?.summary ?? null }
    }
  }

  test('never covers a pinned message, the newest messages, or the latest request of the user', () => {
    fc.assert(
      fc.property(conversations(), fc.integer({ min: 1_000, max: 8_000 }), (messages, budget) => {
        const conversation = readConversation(messages)
        const state = settled(messages, null, budget)
        if (!state) return
        const seen = conversation.messages.filter((message) => comparePositions(message, state.point) <= 0)
        const pinned = conversation.messages.filter((one) => one.pinned)
        expect([...seen.slice(-5), ...pinned].filter((message) => isCovered(message, state))).toEqual([])
        expect(pinned.filter(({ id }) => state.prunings.has(id))).toEqual([])
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  test('covers a call and its result together or not at all', () => {
    fc.assert(
      fc.property(conversations(), fc.integer({ min: 1_000, max: 8_000 }), (messages, budget) => {
        const { pairs } = readConversation(messages)
        const state = settled(messages, null, budget)
        const isRemoved = ({ id }: Message) => state?.prunings.get(id)?.action === 'remove'
        const torn = [...pairs.byResult.values()].filter(({ callMessage, result }) => {
          if (!result) return false
          const isSplit = isCovered(callMessage, state) !== isCovered(result, state)
          return isSplit || (isRemoved(callMessage) && !isRemoved(result))
        })
        expect(torn).toEqual([])
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  test('frees something each time, so that it terminates', () => {
    fc.assert(
      fc.property(conversations(), fc.integer({ min: 600, max: 4_000 }), (messages, budget) => {
        const conversation = readConversation(messages)
        const state = settled(messages, null, budget)
        const cost = (under: CompactionState | null) =>
          conversation.messages.reduce((sum, message) => sum + costUnder(message, under), under?.summaryTokens ?? 0)
        if (state) expect(cost(state)).toBeLessThan(cost(null))
      }),
      { numRuns: propertyRuns(100) },
    )
  })
})

test('a late message that sorts before the point of a compaction invalidates that compaction', () => {
  const messages = Array.from({ length: 60 }, (_, index) =>
    sampleMessage({ seq: index + 1, content: 'word '.repeat(200), role: index % 2 ? 'assistant' : 'user' }),
  )
  const state = settled(messages, null, 10_000)
  if (!state) throw new Error('expected the conversation to be compacted')
  const late = sampleMessage({ seq: 61, orderedAtMs: 30_500 })
  expect(isOvertaken(state, late)).toBe(true)
  expect(isCovered(late, state)).toBe(false)
  expect(messages.some((message) => isOvertaken(state, message))).toBe(false)
})

describe('a message whose pruning was undone', () => {
  const conversationWith = (fields: (index: number) => Partial<Message>) =>
    Array.from({ length: 80 }, (_, index) =>
      sampleMessage({
        seq: index + 1,
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: 'word '.repeat(100),
        ...fields(index),
      }),
    )

  test('is neither condensed nor covered', () => {
    const messages = conversationWith((index) => (index === 20 ? { undone: true } : {}))
    const state = settled(messages, null, 4_000)
    const [undone, other] = [messages[20], messages[22]]
    if (!undone || !other) throw new Error('expected 80 messages')
    expect([isCovered(undone, state), isCovered(other, state)]).toEqual([false, true])
    expect(state?.prunings.has(undone.id)).toBe(false)
  })

  test('is compacted, the oldest first, if such messages would take more than half of the limit', () => {
    const messages = conversationWith((index) => (index < 40 ? { undone: true } : {}))
    const state = settled(messages, null, 4_000)
    const raw = messages.filter((message) => message.undone && !isCovered(message, state))
    const held = raw.filter(({ seq }) => seq > 5)
    expect(held.length).toBeGreaterThan(5)
    expect(held.map(({ seq }) => seq)).toEqual(
      Array.from({ length: held.length }, (_, index) => 41 - held.length + index),
    )
    expect(held.reduce((sum, message) => sum + costUnder(message, null), 0)).toBeLessThanOrEqual(2_000)
  })
})
