import { expect, test } from 'vitest'
import { usageOf } from './usage.js'

test('usage counts the input that was in no cache, and is absent where a provider sent nothing', () => {
  const cached = { inputTokens: 100, cachedInputTokens: 60, cacheCreationInputTokens: 10, outputTokens: 5 }
  expect(usageOf(cached)).toEqual({ inputTokens: 30, cacheReadTokens: 60, cacheWriteTokens: 10, outputTokens: 5 })
  expect(usageOf({ inputTokens: 7, outputTokens: 5, reasoningTokens: 3 })).toMatchObject({
    inputTokens: 7,
    reasoningTokens: 3,
  })
  expect(usageOf({})).toBeUndefined()
})
