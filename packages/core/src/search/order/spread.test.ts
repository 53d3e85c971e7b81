import { expect, test } from 'vitest'
import { spread } from './spread.js'

function at(seq: number, worth: number) {
  return { index: seq, worth, statement: { text: '', isOfPerson: true, atMs: 0, seq } }
}

test('a statement beside a chosen one gives way to a worse one far away, and to a far worse one it does not', () => {
  const crowd = Array.from({ length: 20 }, (_, seq) => at(seq, 0.1))
  const worths = (far: number) =>
    crowd.map((each) => (each.index < 2 ? at(each.index, 1) : each.index === 19 ? at(19, far) : each))
  expect(spread(worths(0.7)).slice(0, 2)).toEqual([0, 19])
  expect(spread(worths(0.4)).slice(0, 2)).toEqual([0, 1])
})

test('time is that of the message, then its place in the thread', () => {
  const statements = [at(0, 1), at(1, 0.9), at(2, 0.8)]
  const reversed = statements.map((each) => ({ ...each, statement: { ...each.statement, atMs: -each.index } }))
  expect(spread(statements)).toEqual([0, 2, 1])
  const last = reversed.map((each) =>
    each.index === 1 ? { ...each, statement: { ...each.statement, atMs: -9 } } : each,
  )
  expect(spread(last)).toEqual([0, 1, 2])
})

test('at most ten come first, and all of few', () => {
  expect(spread(Array.from({ length: 40 }, (_, seq) => at(seq, 1)))).toHaveLength(10)
  expect(spread([at(3, 0.1)])).toEqual([3])
  expect(spread([])).toEqual([])
})
