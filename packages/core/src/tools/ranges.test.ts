import fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers, type LineRange } from './ranges.js'

test('the whole file covers everything, and only the whole file covers it', () => {
  expect(covers(null, { from: 3, to: 9 })).toBe(true)
  expect(covers({ from: 1, to: null }, null)).toBe(true)
  expect(covers({ from: 1, to: 900 }, null)).toBe(false)
  expect(covers({ from: 2, to: null }, null)).toBe(false)
})

test('the end of a file covers a shorter end, never counted lines', () => {
  expect(covers({ from: -20, to: null }, { from: -10, to: null })).toBe(true)
  expect(covers({ from: -10, to: null }, { from: -20, to: null })).toBe(false)
  expect(covers({ from: -10, to: null }, { from: 5, to: 6 })).toBe(false)
  expect(covers({ from: 1, to: 9 }, { from: -3, to: null })).toBe(false)
})

test('a range covers another if it has each of its lines', () => {
  const ranges = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.option(fc.integer({ min: 0, max: 30 })))
  const range = ranges.map(([from, length]): LineRange => ({ from, to: length === null ? null : from + length }))
  const holds = ({ from, to }: LineRange, line: number) => line >= from && (to === null || line <= to)
  const lines = Array.from({ length: 100 }, (_, index) => index + 1)
  fc.assert(
    fc.property(range, range, (outer, inner) => {
      expect(covers(outer, inner)).toBe(lines.every((line) => !holds(inner, line) || holds(outer, line)))
    }),
  )
})
