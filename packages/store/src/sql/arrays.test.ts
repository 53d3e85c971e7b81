import { expect, test } from 'vitest'
import { asArray, asQuotedArray } from './arrays.js'

test('a list of numbers and ids is spelled as it is', () => {
  expect(asArray([1, 2, 3])).toBe('{1,2,3}')
})

test('texts are quoted, with what would end them escaped', () => {
  expect(asQuotedArray(['a "b"', 'c\\d', '', 'NULL', '{e},f'])).toBe('{"a \\"b\\"","c\\\\d","","NULL","{e},f"}')
})

test('a list may miss values, and a list of nothing is empty', () => {
  expect(asQuotedArray([null, true, undefined, false])).toBe('{NULL,t,NULL,f}')
  expect(asQuotedArray([null, undefined])).toBe('{}')
})
