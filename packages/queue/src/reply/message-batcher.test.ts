import type { Reply } from '@heddle/contracts'
import { systemClock } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { bounds } from '../base/bounds.js'
import { Inbox } from './inbox.js'
import { MessageBatcher } from './message-batcher.js'
import { encodeReply } from './wire-format.js'

const idOf = (number: number) => `018f0000-0000-7000-8000-${String(number).padStart(12, '0')}`

test('replies of one tick are sent together, by inbox, in messages that fit into a notification', async () => {
  const sent: { channel: string; text: string }[] = []
  const batcher = new MessageBatcher(async (channel, text) => {
    sent.push({ channel, text })
  })
  const replies = Array.from(
    { length: 250 },
    (_, number): Reply =>
      number % 10 === 0
        ? { requestId: idOf(number), ok: false, error: { code: 'INTERNAL', detail: '🧵'.repeat(500) } }
        : { requestId: idOf(number), ok: true },
  )
  await Promise.all(replies.map((reply, number) => batcher.send(number % 2 === 0 ? 'even' : 'odd', encodeReply(reply))))
  for (const { text } of sent) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bounds.messageBytesMax + 2)
  const received = (channel: string) =>
    sent.filter((message) => message.channel === channel).flatMap(({ text }) => JSON.parse(text) as Reply[])
  expect(received('odd')).toEqual(replies.filter((_, number) => number % 2 === 1))
  expect(received('even')).toEqual(replies.filter((_, number) => number % 2 === 0))
  expect(sent.length).toBeLessThan(replies.length / 10)
})

test('an inbox accepts a list, and drops entries that are not replies', async () => {
  const inbox = new Inbox(systemClock)
  const expected = [1, 2].map((number) =>
    inbox.expect({
      requestId: idOf(number),
      deadlineMs: 10_000,
      read: async () => undefined,
      whenOk: number,
      firstReadMs: 5_000,
    }),
  )
  inbox.receive('not JSON')
  inbox.receive(JSON.stringify([{ requestId: idOf(1), ok: true }, 17, { requestId: idOf(2), ok: true }]))
  expect(await Promise.all(expected.map(({ result }) => result))).toEqual([1, 2])
})
