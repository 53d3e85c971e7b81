import { expect, test } from 'vitest'
import { PAGE_LINES, rowsOf } from './lines.js'

test('each line has its number, and a long one is in parts that join to it, without cutting a character', () => {
  const long = `${'x'.repeat(1_999)}😀${'y'.repeat(3_000)}`
  const rows = rowsOf(['one', long, ''], 0)
  expect(rows.map(({ line, from }) => [line, from])).toEqual([
    [1, 0],
    [2, 0],
    [2, 1_999],
    [2, 3_999],
    [3, 0],
  ])
  expect(
    rows
      .filter(({ line }) => line === 2)
      .map(({ text }) => text)
      .join(''),
  ).toBe(long)
})

test('a second page continues the numbers', () => {
  const lines = Array.from({ length: PAGE_LINES + 2 }, (_, index) => String(index + 1))
  expect(rowsOf(lines, 0)).toHaveLength(PAGE_LINES)
  expect(rowsOf(lines, 1).map(({ line, text }) => `${line} ${text}`)).toEqual([
    `${PAGE_LINES + 1} ${PAGE_LINES + 1}`,
    `${PAGE_LINES + 2} ${PAGE_LINES + 2}`,
  ])
})
