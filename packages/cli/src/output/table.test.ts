import { expect, test } from 'vitest'
import { layOut } from './layout.js'
import { oneLine, safeText } from './safe-text.js'
import { formatDuration, moreLines, tableLines } from './table.js'

test('columns are as wide as their widest cell, numbers on the right', () => {
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

test('durations are shown in the unit that people would choose', () => {
  expect([12.4, 3_240, 125_000].map(formatDuration)).toEqual(['12 ms', '3.2 s', '2 min 5 s'])
})

test('escape sequences of stored texts are shown and not obeyed', () => {
  expect(safeText('a\u001b[31mb\r\nc\td\u0007')).toBe('a\\x1b[31mb\nc\td\\x07')
  expect(oneLine('one\n two   three', 9)).toBe('one two …')
})

test('a page that goes on says with what, harmlessly and ready to be pasted', () => {
  expect(moreLines('fix login\u001b[2J')).toEqual(['', 'more: --cursor "fix login\\\\x1b[2J"'])
  expect(moreLines(null)).toEqual([])
})
