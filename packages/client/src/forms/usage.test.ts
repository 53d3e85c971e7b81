import { expect, test } from 'vitest'
import { aiSdkUsage, anthropicUsage, openAiUsage } from './usage.js'

const sizeOf = ({ usage = {} }: { usage?: Record<string, unknown> }) =>
  ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens'].reduce(
    (sum, name) => sum + Number(usage[name] ?? 0),
    0,
  )

test('one request counts the same through every package: cached tokens are counted once', () => {
  const openAi = { prompt_tokens: 1_000, completion_tokens: 50, prompt_tokens_details: { cached_tokens: 800 } }
  const responses = { input_tokens: 1_000, output_tokens: 50, input_tokens_details: { cached_tokens: 800 } }
  const anthropic = {
    input_tokens: 150,
    cache_read_input_tokens: 800,
    cache_creation_input_tokens: 50,
    output_tokens: 50,
  }
  const newer = {
    inputTokens: 1_000,
    inputTokenDetails: { cacheReadTokens: 800, cacheWriteTokens: 50 },
    outputTokens: 50,
  }
  const beside = { inputTokens: 150, cachedInputTokens: 800, outputTokens: 50 }
  expect(sizeOf(openAiUsage(openAi))).toBe(1_050)
  expect(sizeOf(openAiUsage(responses))).toBe(1_050)
  expect(sizeOf(anthropicUsage(anthropic))).toBe(1_050)
  expect(sizeOf(aiSdkUsage({ inputTokens: 1_000, cachedInputTokens: 800, outputTokens: 50 }, undefined))).toBe(1_050)
  expect(sizeOf(aiSdkUsage(newer, undefined))).toBe(1_050)
  expect(sizeOf(aiSdkUsage(beside, { anthropic: { cacheCreationInputTokens: 50 } }))).toBe(1_050)
})

test('usage without input and output is kept unchanged, and values that are not counts are left out', () => {
  expect(openAiUsage({ credits: 3 })).toEqual({ usage: { credits: 3 } })
  expect(anthropicUsage({ input_tokens: 'many', output_tokens: 5 })).toEqual({
    usage: { inputTokens: 0, outputTokens: 5 },
  })
  expect(openAiUsage(null)).toEqual({})
})
