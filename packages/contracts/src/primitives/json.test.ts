import { expect, it } from 'vitest'
import { jsonObjectOrTextSchema, jsonObjectSchema, sentObjectSchema } from './json.js'
import { limits } from './limits.js'

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 1; level < levels; level++) value = level % 2 === 0 ? { value } : [value]
  return { value }
}

it('copies an object, with every key that JSON allows', () => {
  const given: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":null,"list":[1,"two",true,{"three":3.5}]}')
  const copy = jsonObjectSchema.parse(given)
  expect(copy).not.toBe(given)
  expect(JSON.stringify(copy)).toBe(JSON.stringify(given))
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
})

it.each([
  ['a number that JSON cannot hold', { value: Number.NaN }],
  ['a big integer', { value: 1n }],
  ['a date', { value: new Date(0) }],
  ['a map', { value: new Map() }],
  ['a field without a value', { value: undefined }],
  ['a hole in a list', { value: new Array(3) }],
  ['a list in place of an object', [1]],
  ['a text', 'text'],
  ['nothing', null],
])('refuses %s', (_, value) => {
  expect(jsonObjectSchema.safeParse(value).success).toBe(false)
})

it('accepts values up to its depth and refuses deeper ones and cycles, without a stack overflow', () => {
  expect(jsonObjectSchema.safeParse(nested(limits.jsonDepthMax)).success).toBe(true)
  expect(jsonObjectSchema.safeParse(nested(limits.jsonDepthMax + 1)).success).toBe(false)
  expect(jsonObjectSchema.safeParse(nested(100_000)).success).toBe(false)
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  expect(jsonObjectSchema.safeParse(cycle).success).toBe(false)
})

it('names the place of a value that is not JSON', () => {
  const { error } = jsonObjectSchema.safeParse({ list: [1, { date: new Date(0) }] })
  expect(error?.issues.map(({ path, message }) => [path, message])).toEqual([
    [['list', 1, 'date'], 'must be a JSON value'],
  ])
})

it('stops early on shared values that would expand without bound', () => {
  let shared: unknown = 'x'.repeat(1_000)
  for (let level = 0; level < 60; level++) shared = [shared, shared]
  const { error } = jsonObjectSchema.safeParse({ shared })
  expect(error?.issues[0]).toMatchObject({ code: 'too_big' })
})

it('accepts a text or an object, also one with a field that texts have', () => {
  for (const value of ['text', { length: { toString: null } }, { length: 9e9 }]) {
    expect(jsonObjectOrTextSchema.parse(value)).toEqual(value)
  }
  expect(jsonObjectOrTextSchema.safeParse(['text']).success).toBe(false)
})

it("copies a package's object as it would be sent", () => {
  class Reply {
    text = 'hello'
    unsaid = undefined
    speak() {}
  }
  const bytes = new Uint8Array(20_000).fill(255)
  const given = {
    reply: new Reply(),
    at: new Date(0),
    url: new URL('https://example.org/a'),
    bytes,
    list: [bytes.buffer],
  }
  const base64 = Buffer.from(bytes).toString('base64')
  expect(sentObjectSchema.parse(given)).toEqual({
    reply: { text: 'hello' },
    at: '1970-01-01T00:00:00.000Z',
    url: 'https://example.org/a',
    bytes: base64,
    list: [base64],
  })
})

it('refuses values that cannot be sent, and cycles', () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  for (const value of [{ value: 1n }, { value: Number.NaN }, cycle, [1], 'text', null])
    expect(sentObjectSchema.safeParse(value).success).toBe(false)
})
