import { mergeSettings, type PartialSettings, readModelsFile } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { sampleInput } from '../../../../test/support/src/samples/sample-input.js'
import { buildContext } from '../assembly/index.js'
import { limitTokens } from '../compaction/index.js'
import { knownModels } from './model-windows.js'
import { addModels, isKnownModel, modelMargin, modelWindowTokens } from './models.js'

test.each([
  ['claude-3-5-sonnet', 200_000],
  ['claude-3-opus', 200_000],
  ['gpt-4-turbo', 128_000],
  ['gpt-4o', 128_000],
  ['gemini-pro', 32_000],
])('%s has its window', (model, window) => {
  expect(modelWindowTokens(model)).toBe(window)
})

test.each([
  ['gpt-4', 8_192],
  ['gpt-4-0613', 8_192],
  ['gpt-4-0314', 8_192],
  ['openai/gpt-4', 8_192],
  ['openai:gpt-4', 8_192],
  ['gpt-4:extended', 8_192],
  ['ft:gpt-4-0613:mistral::abc', 8_192],
  ['GPT-4', 8_192],
  ['gpt-4-32k-0613', 32_768],
  ['gpt-4-turbo-2024-04-09', 128_000],
  ['gpt-4-1106-preview', 128_000],
  ['gpt-4-0125-preview', 128_000],
  ['gpt-4o-mini-2024-07-18', 128_000],
  ['chatgpt-4o-latest', 128_000],
  ['gpt-4.1-nano-2025-04-14', 1_047_576],
  ['gpt-5-mini', 272_000],
  ['gpt-3.5-turbo', 16_385],
  ['gpt-3.5-turbo-0125', 16_385],
  ['gpt-3.5-turbo-0613', 4_096],
  ['gpt-3.5-turbo-instruct', 4_096],
  ['azure/gpt-35-turbo', 16_385],
  ['gpt-35-turbo-16k', 16_385],
  ['o1-mini', 128_000],
  ['o3', 200_000],
  ['claude-2', 100_000],
  ['claude-2.1', 200_000],
  ['anthropic.claude-v2', 100_000],
  ['anthropic.claude-v2:1', 200_000],
  ['claude-instant-1.2', 100_000],
  ['us.anthropic.claude-3-5-sonnet-20240620-v1:0', 200_000],
  ['claude-3-opus@20240229', 200_000],
  ['claude-sonnet-4-5', 200_000],
  ['meta-llama/Llama-2-70b-chat-hf', 4_096],
  ['llama2:13b', 4_096],
  ['meta-llama/Meta-Llama-3-8B-Instruct', 8_192],
  ['meta.llama3-70b-instruct-v1:0', 8_192],
  ['meta.llama3-1-70b-instruct-v1:0', 131_072],
  ['meta-llama/Llama-3.3-70B-Instruct', 131_072],
  ['mistralai/Mistral-7B-Instruct-v0.2', 32_768],
  ['mistral', 32_768],
  ['mistral:mistral-large-latest', 128_000],
  ['mistral-small-latest', 128_000],
  ['mixtral-8x7b-32768', 32_768],
  ['models/gemini-pro', 32_000],
  ['gemini-1.0-pro-001', 32_000],
  ['gemini-1.5-pro-002', 2_097_152],
  ['gemini-2.5-flash', 1_048_576],
  ['deepseek-chat', 131_072],
  ['deepseek-ai/deepseek-coder-33b-instruct', 16_384],
  ['command', 4_096],
  ['cohere.command-r-plus-v1:0', 128_000],
  ['microsoft/phi-2', 2_048],
])('%s has a window of %i tokens', (model, window) => {
  expect([modelWindowTokens(model), isKnownModel(model)]).toEqual([window, true])
})

test.each(['gpt-45', 'gpt-4.7', 'gpt-6', 'acme-2', 'o1x', 'llama', 'gpt', 'claudette', 'openai/', ':', ''])(
  '%j is not in the table: its window is assumed',
  (model) => {
    expect([modelWindowTokens(model), isKnownModel(model)]).toEqual([200_000, false])
  },
)

test('a prefix counts only if the name may end there, whatever precedes and follows it', () => {
  const before = fc.constantFrom('', 'openai/', 'openrouter/openai/', 'azure:', 'us.meta.', 'models/')
  const after = fc.constantFrom('', '-2025-01-01', ':free', '@latest', '-preview', '_v2')
  fc.assert(
    fc.property(before, fc.constantFrom(...knownModels.keys()), after, (prefix, name, suffix) => {
      const known = [...knownModels].filter(([beginning]) => `${name}${suffix}`.startsWith(beginning))
      const windows = known.map(([, { window }]) => window)
      expect(windows).toContain(modelWindowTokens(`${prefix}${name}${suffix}`))
      if (suffix === '') expect(modelWindowTokens(prefix + name)).toBe(knownModels.get(name)?.window)
    }),
  )
})

test('every known window fits a request beside the answer', () => {
  for (const [model, { window }] of knownModels) {
    for (const maxOutputTokens of [1, 4_096, 1_000_000]) {
      const limit = limitTokens(mergeSettings({ model, maxOutputTokens }))
      expect(limit, model).toBeGreaterThan(window / 4)
      expect(limit + Math.min(maxOutputTokens, window / 2), model).toBeLessThanOrEqual(window)
    }
  }
})

test('the known small windows limit contexts without a budget', () => {
  const limit = (model: string) => limitTokens(mergeSettings({ model }))
  expect(limit('gpt-4')).toBe(Math.floor((8_192 - 4_096) / 1.15))
  expect(limit('gpt-3.5-turbo')).toBe(Math.floor((16_385 - 4_096) / 1.15))
  expect(limit('gpt-3.5-turbo-instruct')).toBe(Math.floor(2_048 / 1.15))
  expect(limit('acme-2')).toBe(195_904)
})

test('a models.dev file overrides the table, by the id of a model with or without its provider', () => {
  const file = { acme: { models: { 'acme-1': { limit: { context: 50_000 } }, silent: { limit: { context: 0 } } } } }
  addModels(readModelsFile(file))
  expect(modelWindowTokens('acme-1')).toBe(50_000)
  expect(modelWindowTokens('acme/acme-1')).toBe(50_000)
  expect(isKnownModel('silent')).toBe(false)
})

test('of two providers of one model the smaller window counts', () => {
  const limits = (context: number) => ({ models: { shared: { limit: { context } } } })
  const models = readModelsFile({ one: limits(90_000), two: limits(30_000) })
  expect(models.get('shared')?.window).toBe(30_000)
  expect(models.get('one/shared')?.window).toBe(90_000)
})

test('a file of another format is refused with the place in it', () => {
  expect(() => readModelsFile({ acme: { models: { x: { limit: { context: 'many' } } } } })).toThrow(
    /models\.acme\.models\.x\.limit\.context/,
  )
})

test('a window of a model with smaller tokens holds fewer of ours; a requested budget is in ours', () => {
  const limit = (model: string, budget: number | null) => limitTokens(mergeSettings({ model, budget }))
  expect(modelMargin('claude-3-opus')).toBe(1.55)
  expect(limit('claude-3-opus', null)).toBe(Math.floor((200_000 - 4_096) / 1.55))
  expect(limit('claude-3-opus', 16_000)).toBe(16_000)
  expect(limit('gpt-4o', null)).toBe(128_000 - 4_096)
})

test('a receipt says when an answer gets fewer tokens than requested', () => {
  const notesOf = (settings: PartialSettings) =>
    buildContext(sampleInput({ messages: [sampleMessage({ seq: 1 })] }, settings)).receipt.notes
  expect(notesOf({ model: 'gpt-3.5-turbo-instruct' })).toContain(
    '2048 tokens are reserved for the answer, half of the window, instead of 4096',
  )
  expect(notesOf({ model: 'gpt-3.5-turbo-instruct', budget: 1_000 })).toEqual([])
  expect(notesOf({ model: 'gpt-4o' })).toEqual([])
  expect(notesOf({ model: 'acme-2' })).toEqual([
    'the window of model "acme-2" is not known: 200000 tokens are assumed (unknownModelWindow)',
  ])
})
