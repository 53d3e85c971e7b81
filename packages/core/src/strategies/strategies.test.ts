import { mergeSettings } from '@heddle/contracts'
// By its name: the example registers its strategy there, also where the package was built.
import { strategyOf } from '@heddle/core'
import { describe, expect, test } from 'vitest'
import registerOwn from '../../../../docs/examples/own-strategy.js'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { registerOnce } from '../../../../test/support/src/samples/own-strategy.js'
import { rawCost } from '../compaction/costs.js'
import type { Message } from '../conversation/message.js'
import { countNeutralMessage } from '../formats/index.js'
import { countTokens, estimateTokens } from '../tokens/tokens.js'

registerOnce(registerOwn)

/** A talk with messages of about 60 tokens. */
const talk = (length: number): Message[] =>
  Array.from({ length }, (_, index) => {
    const content = `Message ${index + 1}: we decided that file src/part${index + 1}.ts holds part ${index + 1}. ${'word '.repeat(40)}`
    const role = index % 2 === 0 ? ('user' as const) : ('assistant' as const)
    return sampleMessage({ seq: index + 1, role, content, tokens: countTokens(content) })
  })

const sandwich = strategyOf(mergeSettings({}))
const LIMIT = 4_000
const textsOf = (messages: readonly { content: string }[]) => messages.map(({ content }) => content)
const tokensOf = (messages: readonly Message[]) => messages.reduce((sum, message) => sum + rawCost(message), 0)

describe('the sandwich', () => {
  test('under its threshold returns the whole history, with no summary and no new state', () => {
    const messages = talk(20)
    expect(sandwich.needsCompression(messages, LIMIT)).toBe(false)
    const built = sandwich.buildContext(messages, null, LIMIT)
    expect(textsOf(built.messages)).toEqual(textsOf(messages))
    expect(built).toMatchObject({ summaryUsed: false, newState: null })
  })

  test('over its threshold compresses, and returns the state to store', () => {
    const messages = talk(120)
    expect(sandwich.needsCompression(messages, LIMIT)).toBe(true)
    const built = sandwich.buildContext(messages, null, LIMIT)
    expect(built.summaryUsed).toBe(true)
    expect(built.tokensUsed).toBeLessThanOrEqual(LIMIT)
    expect(built.newState?.summary).toContain('part')
    expect(built.newState?.covered?.from.id).toBe(messages[5]?.id)
  })

  test('has its threshold at 70 % of the limit, and needs more messages than it keeps', () => {
    const messages = talk(60)
    const used = tokensOf(messages)
    expect(sandwich.needsCompression(messages, Math.ceil(used / 0.7))).toBe(false)
    expect(sandwich.needsCompression(messages, Math.floor(used / 0.7) - 1)).toBe(true)
    expect(sandwich.needsCompression(talk(10), 100)).toBe(false)
    expect([sandwich.preserveTop, sandwich.preserveBottom, sandwich.compressionThreshold]).toEqual([5, 5, 0.7])
  })

  test('always keeps the first five and the last five messages verbatim', () => {
    const messages = talk(300)
    const texts = textsOf(sandwich.buildContext(messages, null, LIMIT).messages)
    expect(texts.slice(0, 5)).toEqual(textsOf(messages.slice(0, 5)))
    expect(texts.slice(-5)).toEqual(textsOf(messages.slice(-5)))
  })

  test('reuses a cached summary while the messages after it fit', () => {
    const messages = talk(120)
    const { newState } = sandwich.buildContext(messages, null, LIMIT)
    const cached = newState && { ...newState, summary: 'what the cache says', summaryTokens: 4 }
    const built = sandwich.buildContext([...messages, ...talk(122).slice(120)], cached, LIMIT)
    expect(built.newState).toBeNull()
    expect(built.messages.some(({ content }) => content.includes('what the cache says'))).toBe(true)
  })

  // Growth past the trigger, since a summary for every appended message would cost more than it saves.
  test('replaces a cached summary when the middle has grown past the trigger', () => {
    const messages = talk(240)
    const { newState } = sandwich.buildContext(messages.slice(0, 120), null, LIMIT)
    const built = sandwich.buildContext(messages, newState, LIMIT)
    expect(built.newState).not.toBeNull()
    expect(built.newState?.covered?.from).toEqual(newState?.covered?.from)
    expect(built.newState?.point.orderedAtMs).toBeGreaterThan(newState?.point.orderedAtMs ?? 0)
    expect(built.newState?.summary).not.toBe(newState?.summary)
  })

  test('shows its summary as a system message between the first messages and the newest', () => {
    const { messages } = sandwich.buildContext(talk(120), null, LIMIT)
    const at = messages.findIndex(({ role }) => role === 'system')
    expect(at).toBe(5)
    expect(messages[at]?.content).toMatch(/^\[Earlier conversation summary: /)
  })

  test('reports the tokens that a count of its messages gives, and estimates within a third of that', () => {
    const { messages, tokensUsed } = sandwich.buildContext(talk(120), null, LIMIT)
    const counted = messages.reduce((sum, message) => sum + countNeutralMessage('neutral', message, countTokens), 0)
    // Never less than the exact count, and hardly more: verbatim messages use their stored count.
    expect(tokensUsed).toBeGreaterThanOrEqual(counted)
    expect(tokensUsed / counted).toBeLessThan(1.05)
    const words = textsOf(messages).join('\n')
    expect(Math.abs(estimateTokens(words) / countTokens(words) - 1)).toBeLessThan(0.34)
  })
})

describe('every strategy', () => {
  const every = ['sandwich', 'tree', 'sliding-window', 'full-history'].map((name) =>
    strategyOf(mergeSettings({ strategy: name })),
  )

  test.each([0, -1, Number.NaN])('refuses a limit of %d', (limit) => {
    for (const strategy of every) {
      expect(() => strategy.buildContext(talk(3), null, limit)).toThrow(
        expect.objectContaining({ code: 'VALIDATION_ERROR', message: 'Context limit must be positive' }),
      )
    }
  })

  test('refuses a conversation without messages', () => {
    for (const strategy of every) {
      expect(() => strategy.buildContext([], null, LIMIT)).toThrow(
        expect.objectContaining({ code: 'VALIDATION_ERROR', message: 'Conversation has no messages' }),
      )
    }
  })

  test('states the tokens needed if not even the shortest form fits', () => {
    for (const strategy of every) {
      expect(() => strategy.buildContext(talk(60), null, 20)).toThrow(
        expect.objectContaining({ code: 'BUDGET_TOO_SMALL', facts: { budget: 20, needed: expect.any(Number) } }),
      )
    }
  })
})

test('the strategy of the guide keeps the last two requests with the work done for them', () => {
  const strategy = strategyOf(mergeSettings({ strategy: 'two-requests' }))
  const messages = talk(121).map((message) =>
    message.role === 'user' && ![1, 61, 91, 121].includes(message.seq)
      ? { ...message, role: 'assistant' as const }
      : message,
  )
  const { newState, summaryUsed } = strategy.buildContext(messages, null, LIMIT)
  expect(summaryUsed).toBe(true)
  expect(newState?.covered?.from.id).toBe(messages[1]?.id)
  expect(strategy.planCoverage?.(messages, null)).toEqual({ start: 1, end: 90 })
})
