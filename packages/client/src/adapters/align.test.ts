import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstNew, firstUnknown, nextId, saidIn } from './align.js'

const tailOf = (said: readonly string[]) => said.map((each, index) => ({ id: `id-${index}`, said: each }))

test('a prompt may repeat the thread, begin within it, or hold only what is new', () => {
  const tail = tailOf(['a', 'b', 'c'])
  expect(firstNew(['a', 'b', 'c', 'd'], tail, true)).toBe(3)
  expect(firstNew(['b', 'c', 'd'], tail, true)).toBe(2)
  expect(firstNew(['d'], tail, true)).toBe(0)
  expect(firstNew(['a', 'b', 'c'], tail, true)).toBe(3)
  expect(firstNew(['a'], [], true)).toBe(0)
})

test('the same words said again are new where the whole thread is repeated', () => {
  expect(firstNew(['a', 'b', 'a', 'b'], tailOf(['a', 'b']), true)).toBe(2)
})

test('the same words said again are new where only what is new is sent, but not the first words of a retry', () => {
  const tail = tailOf(['a', 'reply', 'continue', 'more'])
  expect(firstNew(['continue'], tail, true)).toBe(0)
  expect(firstNew(['continue'], tail.slice(1), false)).toBe(0)
  // Not answered yet.
  expect(firstNew(['continue'], tail.slice(0, 3), true)).toBe(1)
  expect(firstNew(['a'], tail, true)).toBe(1)
})

test('after a message that the application changed, only what follows the last known one is new', () => {
  expect(firstNew(['a', 'B', 'c', 'd'], tailOf(['a', 'b', 'c']), true)).toBe(3)
})

test('no prompt that continues a thread is stored twice, whatever is said', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(words, words, (thread, more) => {
      const all = [...thread, ...more]
      expect(firstNew(all, tailOf(thread), true)).toBe(thread.length)
    }),
  )
})

test('what follows the last message whose id is known is new, and so is one message with an id', () => {
  const tail = [
    { id: '1', said: 'a', sourceId: 'x' },
    { id: '2', said: 'a', sourceId: 'y' },
  ]
  const prompt = (...ids: (string | undefined)[]) => ids.map((sourceId) => ({ sourceId, said: 'a' }))
  expect(firstUnknown(prompt('w', 'x', 'y', 'z'), tail)).toBe(3)
  expect(firstUnknown(prompt('y'), tail)).toBe(1)
  expect(firstUnknown(prompt('z'), tail)).toBe(0)
  expect(firstUnknown(prompt('v', 'w'), tail)).toBeNull()
  expect(firstUnknown(prompt(undefined), tail)).toBeNull()
  // A server that gives every reply the same id.
  expect(firstUnknown([...prompt('z'), { sourceId: 'y', said: 'b' }], tail)).toBeNull()
})

test('an id is the same each time it is derived, and another after another message', () => {
  expect(nextId('thread', 'a', 'said')).toBe(nextId('thread', 'a', 'said'))
  expect(nextId('thread', 'a', 'said')).not.toBe(nextId('thread', 'b', 'said'))
  expect(nextId('thread', null, 'said')).not.toBe(nextId('other', null, 'said'))
})

test('calls are compared by their values, whatever the order of their fields', () => {
  const call = (given: string | object) => ({ id: '1', name: 'look', arguments: given as never })
  const said = (given: string | object) => saidIn({ role: 'assistant', content: '', toolCalls: [call(given)] })
  expect(said({ a: 1, b: 2 })).toBe(said('{"b":2,"a":1}'))
  expect(said({ a: 1 })).not.toBe(said({ a: 2 }))
})
