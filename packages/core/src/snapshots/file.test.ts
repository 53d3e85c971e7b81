import { describe, expect, it } from 'vitest'
import { type SnapshotFile, SUMMARY_ERASED, threadsOfSnapshot, withoutThread } from './file.js'

const message = (id: string, thread: string) => ({
  id,
  thread_id: thread,
  role: 'user' as const,
  content: `of ${thread}`,
  timestamp: '2026-02-12T14:00:00Z',
})

const both: SnapshotFile = {
  session_id: '018f0000-0000-7000-8000-000000000001',
  timestamp: '2026-02-12T14:30:00Z',
  description: 'Working on auth refactor',
  summary: 'a and b were done',
  message_count: 3,
  window_start: '2026-02-12T00:00:00Z',
  window_end: '2026-02-12T14:30:00Z',
  messages: [message('1', 'a'), message('2', 'b'), message('3', 'a')],
}

describe('a snapshot without a thread', () => {
  it('keeps the others in order, counts them, and does not name what it was summarized from', () => {
    expect(withoutThread(both, 'a')).toEqual({
      ...both,
      summary: SUMMARY_ERASED,
      message_count: 1,
      messages: [message('2', 'b')],
    })
    expect(threadsOfSnapshot(withoutThread(both, 'a'))).toEqual(['b'])
    expect(both.messages).toHaveLength(3)
  })

  it('that it does not contain is the same snapshot, summary included', () => {
    expect(withoutThread(both, 'c')).toBe(both)
  })

  it('is empty after every thread was removed', () => {
    expect(threadsOfSnapshot(both).reduce(withoutThread, both)).toMatchObject({ message_count: 0, messages: [] })
  })
})
