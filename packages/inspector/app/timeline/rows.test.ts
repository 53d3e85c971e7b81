import type { ContextSummary, MessageEntry } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { timelineRows } from './rows.js'

const message = (id: string, at: string, more: Partial<MessageEntry> = {}) =>
  ({ id, orderedAt: at, ...more }) as MessageEntry
const context = (id: string, requestedAt: string) => ({ id, requestedAt }) as ContextSummary
const call = { id: 'call', name: 'Read', arguments: {} }

const messages = [
  message('ask', '2026-11-24T10:00:00Z'),
  message('reply', '2026-11-24T10:01:00Z', { toolCalls: [call] }),
  message('result', '2026-11-24T10:02:00Z', { toolCallId: 'call' }),
]
const contexts = [context('late', '2026-11-24T11:00:00Z'), context('early', '2026-11-24T10:00:30Z')]
const keys = (rows: ReturnType<typeof timelineRows>) => rows.map(({ key }) => key)

test('results are shown with their calls, and contexts between the messages of their time', () => {
  const rows = timelineRows(messages, contexts, { order: 'asc', isComplete: true, isFromStart: true })
  expect(keys(rows)).toEqual(['ask', 'early', 'reply', 'late'])
  const reply = rows[2]
  expect(reply?.kind === 'message' && reply.results.get('call')?.id).toBe('result')
})

test('newest first, the same entries are reversed', () => {
  const rows = timelineRows(messages.toReversed(), contexts, { order: 'desc', isComplete: true, isFromStart: true })
  expect(keys(rows)).toEqual(['late', 'reply', 'early', 'ask'])
})

test('a result whose call is not loaded is an entry, and contexts beyond the loaded messages wait', () => {
  const rows = timelineRows(messages.slice(2), contexts, { order: 'desc', isComplete: false, isFromStart: true })
  expect(keys(rows)).toEqual(['late', 'result'])
})

test('contexts before messages of the middle are not shown: they come with earlier pages', () => {
  const rows = timelineRows(messages.slice(1), contexts, { order: 'asc', isComplete: true, isFromStart: false })
  expect(keys(rows)).toEqual(['reply', 'late'])
})
