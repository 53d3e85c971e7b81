import { expect, test } from 'vitest'
import { PART_CHARACTERS_MAX, PART_MESSAGES_MAX, partsIn } from './parts.js'
import type { ImportedMessage, ThreadPlan } from './plan.js'

const threadOf = (thread: string, messages: number): ThreadPlan => ({
  thread,
  file: 'runs.json',
  format: 'heddle',
  messages,
  toolCalls: 0,
  toolResults: 0,
  skipped: {},
})

const messageOf = (thread: ThreadPlan, index: number, content = ''): ImportedMessage => ({
  thread,
  message: { id: `${thread.thread}-${index}`, role: 'user', content },
})

test('threads that alternate in a file become separate parts, each in its order', () => {
  const [one, two] = [threadOf('one', PART_MESSAGES_MAX + 2), threadOf('two', 3)]
  const messages = () =>
    Array.from({ length: one.messages }, (_, index) => [
      messageOf(one, index),
      ...(index < two.messages ? [messageOf(two, index)] : []),
    ]).flat()
  const parts = [...partsIn({ messages })]
  expect(parts.map(({ thread, messages }) => [thread.thread, messages.length])).toEqual([
    ['two', 3],
    ['one', PART_MESSAGES_MAX],
    ['one', 2],
  ])
  const ids = parts.filter(({ thread }) => thread === one).flatMap((part) => part.messages.map(({ id }) => id))
  expect(ids).toEqual(Array.from({ length: one.messages }, (_, index) => `one-${index}`))
})

test('at most a few parts are read ahead, however many threads alternate', () => {
  const threads = Array.from({ length: 100 }, (_, index) => threadOf(String(index), 50))
  let read = 0
  function* messages() {
    for (let index = 0; index < 50; index++)
      for (const thread of threads) {
        const message = messageOf(thread, index, 'x'.repeat(10_000))
        read += message.message.content.length
        yield message
      }
  }
  let handed = 0
  for (const part of partsIn({ messages })) {
    expect(read - handed).toBeLessThanOrEqual(4 * PART_CHARACTERS_MAX)
    handed += part.messages.reduce((sum, { content }) => sum + content.length, 0)
  }
  expect(handed).toBe(100 * 50 * 10_000)
})
