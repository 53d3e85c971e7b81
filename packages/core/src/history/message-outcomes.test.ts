import { expect, test } from 'vitest'
import type { CompactionState } from '../compaction/state.js'
import type { Message } from '../conversation/message.js'
import { fateOf } from './message-outcomes.js'

const message = (seq: number, more: Partial<Message> = {}) =>
  ({ id: `m${seq}`, seq, orderedAtMs: seq, ordinal: 0, role: 'user', content: 'text', ...more }) as Message
const position = (seq: number) => ({ id: `m${seq}`, orderedAtMs: seq, ordinal: 0 })
const state = {
  headSeq: 9,
  topIds: ['m1', 'm5'],
  covered: { from: position(3), to: position(7) },
  prunings: new Map(),
} as unknown as CompactionState
const options = { caps: new Map(), leftOut: new Map(), count: () => 1, reference: () => 'msg-00000000' }

test.each([
  ['the first messages', message(1), 'first messages'],
  ['a covered message', message(4), 'summarized'],
  ['a message beside the summary', message(5), 'not part of the summary'],
  ['a late one among covered messages', message(12, { orderedAtMs: 4 }), 'not part of the summary'],
  ['the newest messages', message(8), 'recent'],
  ['a pinned message', message(1, { pinned: true }), 'pinned'],
])('the reason of %s', (_, given, reason) => {
  expect(fateOf(given, state, options).reason).toBe(reason)
})

test('without a summary each message is a recent one', () => {
  expect(fateOf(message(1), null, options).reason).toBe('recent')
})
