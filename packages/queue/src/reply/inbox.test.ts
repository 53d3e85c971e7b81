import { systemClock } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { Inbox } from './inbox.js'

const requestId = '018f0000-0000-7000-8000-000000000001'

test('a reply that is the answer is not looked up', async () => {
  const inbox = new Inbox(systemClock)
  let looks = 0
  const read = async () => {
    looks++
    return 'looked up'
  }
  const expected = inbox.expect({ requestId, deadlineMs: 10_000, read, whenOk: 'told', firstReadMs: 5_000 })
  inbox.deliver({ requestId, ok: true })
  expect(await expected.result).toBe('told')
  expect(looks).toBe(0)
  expect(inbox.size).toBe(0)
})

test('without a reply the answer is looked up, from the first look on', async () => {
  const inbox = new Inbox(systemClock)
  const expected = inbox.expect({
    requestId,
    deadlineMs: 10_000,
    read: async () => 'looked up',
    whenOk: 'told',
    firstReadMs: 1,
  })
  expect(await expected.result).toBe('looked up')
})

test('of what arrives, only replies are taken', () => {
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
