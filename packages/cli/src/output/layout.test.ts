import fc from 'fast-check'
import { expect, test } from 'vitest'
import { layOut } from './layout.js'
import { tableLines } from './table.js'

const columns = [{ title: 'thread' }, { title: 'goal' }, { title: 'messages', align: 'right' as const }]
const rows = [
  ['fix-login', 'Find out why the login fails behind the proxy, and write a test that shows it', '1,200'],
  ['docs', 'Write', '7'],
]

test('a table wider than the terminal shrinks its longest text columns, never its numbers', () => {
  expect(layOut(tableLines(columns, rows), 50)).toEqual([
    'thread     goal                           messages',
    '─────────  ─────────────────────────────  ────────',
    'fix-login  Find out why the login fails…     1,200',
    'docs       Write                                 7',
  ])
})

test('a table that fits, or that is not for a terminal, is not changed', () => {
  const whole = layOut(tableLines(columns, rows), null)
  expect(whole[2]).toContain('write a test that shows it')
  expect(layOut(tableLines(columns, rows), 200)).toEqual(whole)
})

test('lines beside a table are never shortened', () => {
  const line = 'x'.repeat(100)
  expect(layOut([line], 20)).toEqual([line])
})

test('no line of a table is wider than the terminal, for any content and width', () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 60 })
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, cell)), fc.integer({ min: 1, max: 120 }), (table, width) => {
      for (const line of layOut(tableLines(columns, table), width)) {
        expect(line.length).toBeLessThanOrEqual(width)
        expect(line.isWellFormed()).toBe(true)
      }
    }),
  )
})
