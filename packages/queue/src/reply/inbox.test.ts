import { systemClock } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { Inbox } from './inbox.js'

const requestId = '018f0000-0000-7000-8000-000000000001'

test('nothing is read from the store if the reply itself is the answer', async () => {
  const inbox = new Inbox(systemClock)
  let reads = 0
  const read = async () => {
    reads++
    return 'read'
  }
  const expected = inbox.expect({ requestId, deadlineMs: 10_000, read, whenOk: 'replied', firstReadMs: 5_000 })
  inbox.deliver({ requestId, ok: true })
  expect(await expected.result).toBe('replied')
  expect(reads).toBe(0)
  expect(inbox.size).toBe(0)
})

test('without a reply the answer is read from the store after firstReadMs', async () => {
  const inbox = new Inbox(systemClock)
  const expected = inbox.expect({
    requestId,
    deadlineMs: 10_000,
    read: async () => 'read',
    whenOk: 'replied',
    firstReadMs: 1,
  })
  expect(await expected.result).toBe('read')
})

test('malformed messages are ignored', () => {
  const ended: string[] = []
  const inbox = new Inbox(systemClock, { onEnd: (id) => ended.push(id) })
  const other = requestId.replace(/1$/, '2')
  const failed = { requestId: other, ok: false, error: { code: 'CONFLICT', detail: 'taken' } }
  inbox.receive('no list')
  inbox.receive('{}')
  inbox.receive(JSON.stringify([null, 7, 'text', {}, { requestId: 'nobody', ok: true }, { requestId: 7, ok: true }]))
  inbox.receive(JSON.stringify([{ requestId, ok: 'yes' }, { requestId, ok: true }, failed]))
  expect(ended).toEqual([requestId, other])
})
