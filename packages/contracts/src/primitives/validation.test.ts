import { expect, it } from 'vitest'
import type { z } from 'zod'
import { HeddleError } from '../errors.js'
import { messageInputSchema } from '../messages/messages.js'
import { limits } from './limits.js'
import { nameSchema, timeSchema } from './names.js'
import { parse } from './validation.js'

function refusal(schema: z.ZodType, value: unknown): { code?: string; field?: string | undefined; message?: string } {
  try {
    parse(schema, value, 'thing')
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error
    return { code: error.code, field: error.field, message: error.message }
  }
  return {}
}

const message = { id: '01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1', role: 'user', content: 'hello' }
const calling = (given: unknown) => ({
  ...message,
  role: 'assistant',
  toolCalls: [{ id: 'call', name: 'Read', arguments: given }],
})

it.each([
  ['a key that no message has', { ...message, contents: 1 }, 'contents'],
  ['what is no JSON in the depth of arguments', calling({ list: [1, new Date(0)] }), 'toolCalls.0.arguments.list.1'],
  ['arguments of another type', calling(5), 'toolCalls.0.arguments'],
  [
    'a getter that throws',
    {
      ...message,
      metadata: {
        get deep() {
          throw new Error('no')
        },
      },
    },
    'metadata.deep',
  ],
  ['a NUL where a column holds none', { ...message, sourceId: 'a\0b' }, 'sourceId'],
])('names the field: %s', (_, value, field) => {
  expect(refusal(messageInputSchema, value)).toMatchObject({ code: 'VALIDATION_ERROR', field })
})

it.each([
  ['content', { ...message, content: 'x'.repeat(limits.messageCharactersMax + 1) }, 'content'],
  ['a text of arguments', calling('x'.repeat(limits.messageCharactersMax + 1)), 'toolCalls.0.arguments'],
  ['metadata', { ...message, metadata: { a: 'x'.repeat(limits.messageCharactersMax) } }, 'metadata'],
  [
    'a signature with the rest',
    {
      ...message,
      role: 'assistant',
      content: 'x'.repeat(9),
      thinking: [{ text: '', signature: 'y'.repeat(limits.messageCharactersMax) }],
    },
    'thing',
  ],
])('says that %s is too large', (_, value, field) => {
  expect(refusal(messageInputSchema, value)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', field })
})

it('handles a value that throws when it is read', () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  expect(refusal(nameSchema, proxy)).toMatchObject({ code: 'VALIDATION_ERROR', field: 'thing' })
  expect(refusal(messageInputSchema, proxy)).toMatchObject({ code: 'VALIDATION_ERROR', field: 'thing' })
})

it.each([
  ['0000-01-01T00:00:00Z', true],
  ['9999-12-31T23:59:59.999Z', true],
  ['2024-02-29T12:00:00+14:00', true],
  ['9999-12-31T23:59:59-01:00', false],
  ['0000-01-01T00:00:00+01:00', false],
  ['2024-13-40T00:00:00Z', false],
  ['2023-02-29T00:00:00Z', false],
  ['2016-12-31T23:59:60Z', false],
  ['+275760-09-13T00:00:00Z', false],
  ['2024-01-01T00:00:00', false],
])('accepts a time that all components can represent: %s', (time, isGood) => {
  expect(timeSchema.safeParse(time).success).toBe(isGood)
})

it('a name is nearly any printable text', () => {
  for (const name of ['a/b', '...', '.x', '%2e', '<script>', '__proto__', 'ü—☃', '"quoted"']) {
    expect(parse(nameSchema, name, 'name')).toBe(name)
  }
  for (const name of ['', '.', '..', ' a', 'a\n', '\ud800'])
    expect(refusal(nameSchema, name)).toMatchObject({ field: 'thing' })
})
