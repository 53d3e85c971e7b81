import { expect, test } from 'vitest'
import { z } from 'zod'
import { HeddleError } from '../errors.js'
import { parse } from './validation.js'

const schema = z.strictObject({
  budget: z.int().min(1).optional(),
  order: z.enum(['asc', 'desc']).optional(),
  content: z.string().optional(),
  toolCalls: z.array(z.strictObject({ id: z.string() })).optional(),
  kinds: z.array(z.string()).optional(),
})

function refusal(value: unknown) {
  try {
    parse(schema, value, 'body')
  } catch (error) {
    if (error instanceof HeddleError) return error.toJSON()
  }
  throw new Error('expected a refusal')
}

test.each([
  [{ budget: 'large' }, 'budget', '"large"', 'must be a number'],
  [{ budget: -1 }, 'budget', '-1', 'must be at least 1'],
  [{ order: 'up' }, 'order', '"up"', 'must be one of asc, desc'],
])('a wrong number or enum value is shown, with the rule in our words: %j', (value, field, received, rule) => {
  expect(refusal(value)).toMatchObject({ field, received, detail: expect.stringContaining(rule) })
})

test.each([
  [{ content: 4_111 }, 'content', 'a number'],
  [{ toolCalls: 'canary' }, 'toolCalls', 'a text of 6 characters'],
  [{ toolCalls: [{ id: ['canary'] }] }, 'toolCalls.0.id', 'a list of 1'],
  [{ kinds: 'canary' }, 'kinds', 'a text of 6 characters'],
  [{ 'canary\u202e': 1 }, 'a key of 7 characters', '1'],
])(
  'of contents, and of texts in place of other types, only kind and length are shown: %j',
  (value, field, received) => {
    const refused = refusal(value)
    expect(refused).toMatchObject({ field, received })
    expect(JSON.stringify(refused)).not.toMatch(/canary|4111/)
  },
)
