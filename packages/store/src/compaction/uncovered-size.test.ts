import { expect, test } from 'vitest'
import { uncoveredSize } from './uncovered-size.js'

const thread = { baseSeq: 0, headSeq: 1_000, clearedSeq: 0, tokensEstimate: 100_000 }

test('without a compaction the size is that of all messages', () => {
  expect(uncoveredSize(thread, null)).toEqual({ messages: 1_000, tokens: 100_000 })
})

test('covered messages do not count', () => {
  const state = { coveredCount: 900, coveredTokens: 95_000 }
  expect(uncoveredSize(thread, state)).toEqual({ messages: 100, tokens: 5_000 })
})

test('cleared messages do not count, nor their share of the tokens', () => {
  expect(uncoveredSize({ ...thread, clearedSeq: 750 }, null)).toEqual({ messages: 250, tokens: 25_000 })
  const state = { coveredCount: 300, coveredTokens: 90_000 }
  expect(uncoveredSize({ ...thread, clearedSeq: 750 }, state)).toEqual({ messages: 0, tokens: 0 })
  expect(uncoveredSize({ baseSeq: 0, headSeq: 0, clearedSeq: 0, tokensEstimate: 0 }, null)).toEqual({
    messages: 0,
    tokens: 0,
  })
})
