import type { ReceiptEntry } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { absenceOf, fateOf, lineOf } from './fate.js'

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
  expect(fateOf(covered)).toMatch(/a summary of #8 to #47 stands for it/)
  expect(fateOf(entry({ mode: 'left-out', reason: 'over the budget' }))).toMatch(/left out: over the budget/)
  expect(fateOf(entry({ mode: 'condensed' }))).toMatch(/shorter form, condensed/)
})

test('a message without a line came later, or has a reason for which no context shows it', () => {
  const message = { receivedAt: '2026-11-27T10:00:00.000Z', inWindow: true }
  const requestedAt = '2026-11-27T11:00:00.000Z'
  const cause = (more: object, ineligible: Record<string, number> = {}) =>
    absenceOf({ ...message, ...more }, { ineligible, requestedAt })
  expect(cause({ receivedAt: '2026-11-27T11:30:00.000Z', inWindow: false }).cause).toBe('later')
  expect(cause({ keptAside: 'compact-summary' }).text).toMatch(/kept aside, as compact-summary/)
  expect(cause({ inWindow: false }, { 'outside-window': 2 })).toEqual({
    cause: 'window',
    text: 'It is not in this context: it is older than the rolling window.',
  })
  expect(cause({ inWindow: false }, { 'before-clear': 1 }).text).toMatch(/before the last clear/)
  expect(cause({ inWindow: false }, { 'before-clear': 1, 'outside-window': 2 }).text).toMatch(/rolling window, or/)
  expect([cause({}).cause, absenceOf(undefined, { ineligible: {}, requestedAt }).cause]).toEqual(['unknown', 'unknown'])
})
