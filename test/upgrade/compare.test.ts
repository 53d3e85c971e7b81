import { expect, test } from 'vitest'
import { compareReadings } from './compare.js'

const reading = (value: unknown) => new Map([['GET /v1/threads/run', value]])

test('equal answers and answers with additional fields have no difference', () => {
  const before = { status: 200, body: { items: [{ seq: 1 }] } }
  expect(compareReadings(reading(before), reading(before))).toEqual([])
  const after = { status: 200, body: { items: [{ seq: 1, parts: [] }], nextCursor: null } }
  expect(compareReadings(reading(before), reading(after))).toEqual([])
})

test.each([
  ['a changed text', { content: 'a' }, { content: 'b' }, { place: 'content', before: 'a', after: 'b' }],
  ['a missing field', { content: 'a' }, {}, { place: 'content', before: 'a', after: '(nothing)' }],
  ['a missing entry', { items: [1, 2] }, { items: [1] }, { place: 'items', before: [1, 2], after: [1] }],
  ['a further entry', { items: [1] }, { items: [1, 2] }, { place: 'items', before: [1], after: [1, 2] }],
  ['a changed entry', { items: [{ a: 1 }] }, { items: [{ a: 2 }] }, { place: 'items.*.a', before: 1, after: 2 }],
])('%s is a difference', (_, before, after, found) => {
  expect(compareReadings(reading(before), reading(after))).toEqual([{ asked: 'GET /v1/threads/run', ...found }])
})

test('a missing answer is a difference', () => {
  const [found] = compareReadings(reading({ status: 200 }), new Map())
  expect(found).toMatchObject({ place: '', after: '(nothing)' })
})
