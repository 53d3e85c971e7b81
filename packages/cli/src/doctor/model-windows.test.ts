import { expect, test } from 'vitest'
import { windowCheck } from './model-windows.js'

const used = (model: string, counts: object = {}) => ({ model, agents: 0, threads: 0, contexts: 0, ...counts })
const settings = { configured: null, assumedTokens: 200_000 }

test('doctor names each model in use whose window no table has, and where it is named', () => {
  const check = windowCheck(
    [
      used('acme-2', { agents: 1, contexts: 12 }),
      used('claude-sonnet-4-5', { agents: 3 }),
      used('own', { threads: 2 }),
    ],
    { ...settings, configured: 'house-model' },
  )
  expect(check).toMatchObject({
    status: 'warn',
    detail:
      'not known: "house-model" (the configuration), "acme-2" (1 agent, 12 contexts), "own" (2 threads); unknownModelWindow is assumed: 200000 tokens',
    hint: expect.stringContaining('HEDDLE_MODELS_FILE'),
  })
})

test('doctor names at most twenty such models, and counts the others', () => {
  const many = Array.from({ length: 23 }, (_, index) => used(`house-${index}`, { agents: 1 }))
  expect(windowCheck(many, settings).detail).toContain('"house-19" (1 agent), and 3 more;')
})

test.each([
  [[], 'no model is named'],
  [[used('gpt-4o', { agents: 1 })], 'the windows of all models in use are known'],
])('known models are well: %#', (models, detail) => {
  expect(windowCheck(models, settings)).toEqual({ name: 'model windows', status: 'ok', detail })
})
