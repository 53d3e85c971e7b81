import { expect, test } from 'vitest'
import { reportedTokens } from './usage.js'

test('cached tokens of Anthropic are added, and those of OpenAI are within the input', () => {
  const anthropic = {
    input_tokens: 100,
    cache_read_input_tokens: 800,
    cache_creation_input_tokens: 50,
    output_tokens: 7,
  }
  expect(reportedTokens(anthropic)).toBe(950)
  const openai = { prompt_tokens: 950, prompt_tokens_details: { cached_tokens: 800 }, completion_tokens: 7 }
  expect(reportedTokens(openai)).toBe(950)
})

test('nothing is reported without a count of the input', () => {
  expect(reportedTokens({ output_tokens: 7 })).toBeNull()
  expect(reportedTokens({ input_tokens: 'many' })).toBeNull()
})
