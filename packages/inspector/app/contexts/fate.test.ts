import type { ReceiptEntry } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { fateOf, lineOf } from './fate.js'

const entry = (more: Partial<ReceiptEntry>): ReceiptEntry => ({
  section: 'history',
  mode: 'raw',
  count: 1,
  tokens: 5,
  reason: 'recent',
  ...more,
})
const covered = entry({ mode: 'covered', count: 40, tokens: 0, fromSeq: 8, toSeq: 47, reason: 'summarized' })
const raw = entry({ messageId: 'a', fromSeq: 20, toSeq: 20 })
const context = { thread: 'run', receipt: { entries: [covered, raw], eligible: 60, imported: 60 } }

test('a message has its own line, else that of the range that it is in', () => {
  expect(lineOf({ messageId: 'a', seq: 20, thread: 'run' }, context)).toBe(raw)
  expect(lineOf({ messageId: 'b', seq: 21, thread: 'run' }, context)).toBe(covered)
  expect(lineOf({ messageId: 'c', seq: 48, thread: 'run' }, context)).toBeUndefined()
  expect(lineOf({ messageId: 'd', seq: 21, thread: 'another' }, context)).toBeUndefined()
})

test('a message that is counted without its name has that line, if no other message could have it', () => {
  const unnamed = entry({ mode: 'covered', count: 900, tokens: 0, reason: 'summarized' })
  const whole = { entries: [unnamed, raw], eligible: 901, imported: 901 }
  const line = (seq: number, receipt: typeof whole) =>
    lineOf({ messageId: 'b', seq, thread: 'run' }, { thread: 'run', receipt })
  expect(line(5, whole)).toBe(unnamed)
  expect(line(21, whole)).toBeUndefined()
  expect(line(5, { ...whole, imported: 950 })).toBeUndefined()
  expect(line(5, { ...whole, entries: [unnamed, entry({ mode: 'left-out', count: 3 }), raw] })).toBeUndefined()
})

test('each form of a message is said in a sentence', () => {
  expect(fateOf(raw)).toMatch(/verbatim/)
  expect(fateOf(covered)).toMatch(/a summary stands for it/)
  expect(fateOf(entry({ mode: 'left-out', reason: 'over the budget' }))).toMatch(/left out: over the budget/)
  expect(fateOf(entry({ mode: 'condensed' }))).toMatch(/shorter form, condensed/)
  expect(fateOf(undefined)).toMatch(/came later/)
})
