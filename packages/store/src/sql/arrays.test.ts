import { expect, test } from 'vitest'
import { asArray, asQuotedArray } from './arrays.js'

test('numbers and ids are written without quotes', () => {
  expect(asArray([1, 2, 3])).toBe('{1,2,3}')
})

test('texts are quoted and escaped', () => {
  expect(asQuotedArray(['a "b"', 'c\\d', '', 'NULL', '{e},f'])).toBe('{"a \\"b\\"","c\\\\d","","NULL","{e},f"}')
})

test('null values are allowed, and a list of only null values is empty', () => {
  expect(asQuotedArray([null, true, undefined, false])).toBe('{NULL,t,NULL,f}')
  expect(asQuotedArray([null, undefined])).toBe('{}')
})
