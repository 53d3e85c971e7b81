import { expect, test } from 'vitest'
import { BytePairs } from './byte-pairs.js'
import { TokenTable } from './token-table.js'

const letters = [...'abcdef']

test('the pair of the lowest rank is merged first, of equal ones the first', () => {
  expect(new BytePairs(TokenTable.of([...letters, 'bc', 'ab', 'cd'])).count('abcd')).toBe(3)
  expect(new BytePairs(TokenTable.of([...letters, 'ab', 'bc', 'cd'])).count('abcd')).toBe(2)
  expect(new BytePairs(TokenTable.of([...letters, 'ab', 'cd', 'abcd'])).count('abcd')).toBe(1)
  const pairs = new BytePairs(TokenTable.of([...letters, 'aa']))
  expect(pairs.count('aaa')).toBe(2)
  expect(pairs.count('aaaa')).toBe(2)
})

test('bytes that form no token with their neighbors are one token each', () => {
  const pairs = new BytePairs(TokenTable.of(letters))
  expect(pairs.count('')).toBe(0)
  expect(pairs.count('a')).toBe(1)
  expect(pairs.count('fade')).toBe(4)
  expect(pairs.count('é')).toBe(2)
})

test('tokens that are not valid text are known by their bytes', () => {
  const pairs = new BytePairs(TokenTable.of([[0xc3], [0xa9], [0xc3, 0xa9]]))
  expect(pairs.count('é')).toBe(1)
  expect(pairs.count('éé')).toBe(2)
})
