import { expect, test } from 'vitest'
import { calibrationsOf, reportedTokens } from './usage.js'

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

test('reported tokens by counted ones, by model, of replies whose context is known', () => {
  const reply = (contextId: string, input: number, model = 'large') => ({
    contextId,
    model,
    usage: { input_tokens: input },
  })
  const contexts = [
    { id: 'a', tokensUsed: 100 },
    { id: 'b', tokensUsed: 200 },
    { id: 'failed', tokensUsed: null },
  ]
  const replies = [
    reply('a', 110),
    reply('b', 240),
    reply('b', 220),
    reply('a', 90, 'small'),
    reply('gone', 1),
    reply('failed', 5),
  ]
  expect(calibrationsOf(replies, contexts)).toEqual([
    { model: 'large', replies: 3, ratio: 1.1 },
    { model: 'small', replies: 1, ratio: 0.9 },
  ])
})
