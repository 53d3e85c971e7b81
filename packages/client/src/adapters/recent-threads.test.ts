import { expect, test } from 'vitest'
import { checkedThread, RecentThreads } from './recent-threads.js'

test('the threads that were used last are kept, and others are opened again', () => {
  const opened: string[] = []
  const threads = new RecentThreads((name) => opened.push(name))
  for (let number = 0; number < 100; number++) threads.of(`t${number}`)
  threads.of('t0')
  threads.of('another')
  opened.length = 0
  threads.of('t0')
  threads.of('t99')
  expect(opened).toEqual([])
  threads.of('t1')
  expect(opened).toEqual(['t1'])
})

test.each([undefined, '', 7])('a thread %j is refused with its field, the rule, and what was received', (received) => {
  expect(() => checkedThread(received, 'configurable.thread_id')).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      field: 'thread',
      message: 'thread: must be a name',
      received: received === undefined ? 'nothing' : JSON.stringify(received),
      hint: expect.stringContaining('configurable.thread_id'),
    }),
  )
  expect(checkedThread('fix-login', '')).toBe('fix-login')
})
