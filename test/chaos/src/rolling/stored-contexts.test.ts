import { expect, test } from 'vitest'
import { compareContexts } from './stored-contexts.js'

const shown = (answers: Readonly<Record<string, unknown>>) =>
  new Map(Object.entries(answers).map(([path, body]) => [path, typeof body === 'string' ? body : JSON.stringify(body)]))

test('the same bytes are identical, and a new field is no change', () => {
  const before = shown({ a: { id: 1, messages: [{ text: 'x' }] }, b: { id: 2 } })
  const after = shown({ a: { id: 1, messages: [{ text: 'x', more: 1 }], turns: null }, b: { id: 2 } })
  expect(compareContexts(before, after)).toEqual({ compared: 2, identical: 1, changed: [] })
})

test('a missing field, another value, a longer list and a refusal are changes', () => {
  const before = shown({ a: { id: 1, text: 'x' }, b: { id: 2 }, c: { list: [1] }, d: { id: 4 }, e: { id: 5 } })
  const after = shown({ a: { id: 1 }, b: { id: 3 }, c: { list: [1, 2] }, d: '404: {"code":"NOT_FOUND"}' })
  expect(compareContexts(before, after).changed).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('a context that neither gateway shows has not changed', () => {
  const gone = shown({ a: '410: gone' })
  expect(compareContexts(gone, gone)).toEqual({ compared: 1, identical: 1, changed: [] })
})
