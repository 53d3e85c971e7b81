import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { contextRequestSchema } from '../contexts/contexts.js'
import { HeddleError } from '../errors.js'
import { archiveQuerySchema } from '../http/recall.js'
import { agentBodySchema } from '../index.js'
import { messageInputSchema } from '../messages/messages.js'
import { archiveListSchema } from '../recall/archive.js'
import { searchRequestSchema } from '../recall/search.js'
import { settingFields } from '../settings/setting-paths.js'
import { partialSettingsSchema } from '../settings/settings.js'
import { nearest } from './nearest.js'
import { parse } from './validation.js'

function refusal(schema: z.ZodType, value: unknown): HeddleError {
  try {
    parse(schema, value, 'thing')
  } catch (error) {
    if (error instanceof HeddleError) return error
    throw error
  }
  throw new Error('expected it to be refused')
}

test.each([
  ['a body', contextRequestSchema, { thread: 'run', budgt: 5 }, 'budgt', 'budget'],
  ['a query', archiveQuerySchema, { thread: 'run', Cursor: 'x' }, 'Cursor', 'cursor'],
  [
    'a body within a body',
    agentBodySchema,
    { settings: { prune: { keepLast: 4 } } },
    'settings.prune.keepLast',
    'keepLastN',
  ],
  ['settings', partialSettingsSchema, { rolling_window: 5 }, 'rolling_window', 'rollingWindow'],
  [
    'an entry of a list',
    z.object({ messages: z.array(messageInputSchema) }),
    { messages: [{ id: '01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1', role: 'user', contents: '' }] },
    'messages.0.contents',
    'content',
  ],
  ['an object within it', contextRequestSchema, { thread: 'run', scope: { thread: ['a'] } }, 'scope.thread', 'threads'],
])('for an unknown key of %s, the nearest known one is named', (_, schema, value, field, meant) => {
  const error = refusal(schema, value)
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR', field })
  expect(error.message).toContain(`${field}: is not known; did you mean ${meant}?`)
})

test('a mistyped required key is reported by the key that was sent', () => {
  expect(refusal(searchRequestSchema, { querry: 'x' }).message).toContain('querry: is not known; did you mean query?')
  expect(refusal(searchRequestSchema, { agent: 'coder', limit: 'x' }).message).toContain('query: is needed')
})

test('if no known key is near, the error lists them', () => {
  const error = refusal(archiveListSchema, { xyzzy: 1 })
  expect(error.message).not.toContain('did you mean')
  expect(error.hint).toBe('Known there: agent, thread, kinds, tool, path, failed, since, until, limit, cursor.')
})

test('every key of a body is found after any single typing error', () => {
  const schemas = [contextRequestSchema, agentBodySchema, partialSettingsSchema, messageInputSchema]
  const keys = schemas.flatMap((schema) => (schema instanceof z.ZodObject ? [Object.keys(schema.shape)] : []))
  expect(keys.length).toBeGreaterThan(2)
  const slip = fc.record({ at: fc.nat(40), letter: fc.constantFrom(...'abcxyz'), kind: fc.nat(2) })
  fc.assert(
    fc.property(fc.constantFrom(...keys), fc.nat(40), slip, (known, index, { at, letter, kind }) => {
      const key = known[index % known.length] ?? ''
      const place = at % key.length
      const slipped = key.slice(0, place) + (kind === 0 ? '' : letter) + key.slice(kind === 2 ? place : place + 1)
      fc.pre(key.length > 3 && !known.includes(slipped))
      const found = nearest(slipped, known)
      // Two keys may be equally near.
      expect(found).not.toBeNull()
      if (found !== key) expect(known).toContain(found)
    }),
  )
})

test('no text takes long, and one that is far from all keys is not taken for a typing error', () => {
  const names = settingFields().map(({ name }) => name)
  expect(nearest('prune.keepLasN', names)).toBe('prune.keepLastN')
  for (const word of ['', '-', 'x', 'sandwiches are good', 'a'.repeat(1_000_000)])
    expect(nearest(word, names)).toBeNull()
  expect(nearest('at', ['by', 'id'])).toBeNull()
})
