import { mergeSettings, readModelsFile } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { limitTokens } from './compaction/index.js'
import { addModels, isKnownModel, modelMargin, modelWindowTokens } from './models.js'

test.each([
  ['claude-3-5-sonnet', 200_000],
  ['claude-3-opus', 200_000],
  ['gpt-4-turbo', 128_000],
  ['gpt-4o', 128_000],
  ['gemini-pro', 32_000],
])('%s has the window of spec 003', (model, window) => {
  expect(modelWindowTokens(model)).toBe(window)
})

test('a models.dev file goes before the table, by the id of a model and with its provider', () => {
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

test('a file of another form is refused with the place in it', () => {
  expect(() => readModelsFile({ acme: { models: { x: { limit: { context: 'many' } } } } })).toThrow(
    /models\.acme\.models\.x\.limit\.context/,
  )
})

test('a window of a model whose tokens are smaller holds fewer of ours; a budget that was asked for is in ours', () => {
  const limit = (model: string, budget: number | null) => limitTokens(mergeSettings({ model, budget }))
  expect(modelMargin('claude-3-opus')).toBe(1.55)
  expect(limit('claude-3-opus', null)).toBe(Math.floor((200_000 - 4_096) / 1.55))
  expect(limit('claude-3-opus', 16_000)).toBe(16_000)
  expect(limit('gpt-4o', null)).toBe(128_000 - 4_096)
})
