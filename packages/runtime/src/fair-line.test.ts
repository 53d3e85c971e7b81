import { expect, test } from 'vitest'
import { FairLine } from './fair-line.js'

test('owners are served in turn, each in the order of its entries', () => {
  const line = new FairLine<string>()
  for (const entry of ['a1', 'a2', 'a3']) line.add('a', entry)
  line.add('b', 'b1')
  line.add('c', 'c1')
  line.add('c', 'c2')
  const served = Array.from({ length: 7 }, () => line.take())
  expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', undefined])
})

test('an entry that left its line is not served, and may leave twice', () => {
  const line = new FairLine<string>()
  const leave = line.add('a', 'a1')
  line.add('b', 'b1')
  leave()
  leave()
  expect([...line]).toEqual(['b1'])
  expect(line.take()).toBe('b1')
  expect(line.take()).toBeUndefined()
})
