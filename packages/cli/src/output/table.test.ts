import { expect, test } from 'vitest'
import { layOut } from './layout.js'
import { oneLine, safeText } from './safe-text.js'
import { formatDuration, moreLines, tableLines } from './table.js'

test('columns are as wide as their widest cell, and numbers are aligned right', () => {
  const lines = layOut(
    tableLines(
      [{ title: 'thread' }, { title: 'messages', align: 'right' }],
      [
        ['a-long-thread-name', '7'],
        ['short', '1,200'],
      ],
    ),
    null,
  )
  expect(lines).toEqual([
    'thread              messages',
    '──────────────────  ────────',
    'a-long-thread-name         7',
    'short                  1,200',
  ])
})

test('durations are shown in a suitable unit', () => {
  expect([12.4, 3_240, 125_000].map(formatDuration)).toEqual(['12 ms', '3.2 s', '2 min 5 s'])
})

test('escape sequences in stored texts are escaped', () => {
  expect(safeText('a\u001b[31mb\r\nc\td\u0007')).toBe('a\\x1b[31mb\nc\td\\x07')
  expect(oneLine('one\n two   three', 9)).toBe('one two …')
})

test('a page with a successor shows its cursor, safe for a terminal and quoted for a shell', () => {
  expect(moreLines('fix login\u001b[2J')).toEqual(['', 'more: --cursor "fix login\\\\x1b[2J"'])
  expect(moreLines(null)).toEqual([])
})
