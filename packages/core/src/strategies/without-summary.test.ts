import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { strategyOf } from './registry.js'

const LIMIT = 4_000

/** Messages of 14 tokens. */
const talk = (length: number) =>
  Array.from({ length }, (_, index) => {
    const role = index % 2 === 0 ? ('user' as const) : ('assistant' as const)
    return sampleMessage({ seq: index + 1, role, content: `message ${index + 1} ${'word '.repeat(10)}`, tokens: 14 })
  })

function shown(settings: PartialSettings, messages: ReturnType<typeof talk>) {
  const { newState, summaryUsed, ...built } = strategyOf(mergeSettings(settings)).buildContext(messages, null, LIMIT)
  expect({ newState, summaryUsed }).toEqual({ newState: null, summaryUsed: false })
  return built.messages.map(({ content }) => content)
}

const textsOf = (messages: ReturnType<typeof talk>) => messages.map(({ content }) => content)

describe('the sliding window', () => {
  test('shows the newest twenty messages, and no summary of the others', () => {
    const messages = talk(60)
    expect(shown({ strategy: 'sliding-window' }, messages)).toEqual(textsOf(messages.slice(-20)))
  })

  test('shows as many as the settings say', () => {
    const messages = talk(60)
    const settings = { strategy: 'sliding-window', slidingWindow: { keepLastN: 4 } }
    expect(shown(settings, messages)).toEqual(textsOf(messages.slice(-4)))
  })
})

describe('the full history', () => {
  test('shows every message and never compresses, also near the limit', () => {
    const messages = talk(190)
    const strategy = strategyOf(mergeSettings({ strategy: 'full-history' }))
    expect(strategyOf(mergeSettings({})).needsCompression(messages, LIMIT)).toBe(true)
    expect(strategy.needsCompression(messages, LIMIT)).toBe(false)
    expect(shown({ strategy: 'full-history' }, messages)).toEqual(textsOf(messages))
  })
})

test('the sandwich covers nothing of ten messages, and the sixth of eleven', () => {
  const { planCoverage } = strategyOf(mergeSettings({}))
  expect([planCoverage?.(talk(10), null), planCoverage?.(talk(11), null)]).toEqual([null, { start: 5, end: 6 }])
})
