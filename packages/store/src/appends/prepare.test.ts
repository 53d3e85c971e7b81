import { randomUUID } from 'node:crypto'
import type { IngestJob } from '@heddle/contracts'
import { messageFingerprint } from '@heddle/core'
import { expect, test } from 'vitest'
import { Preparation } from './prepare.js'

const projectId = randomUUID()
const long = '"\\\0\ud83d'.repeat(50_000)

function job(content: string, thread = 't'): IngestJob {
  const message = { id: randomUUID(), role: 'user' as const, content }
  const messages = [{ message, ordinal: 0, orderedAt: new Date(0).toISOString() }]
  return { projectId, requestId: randomUUID(), agent: 'a', thread, messages }
}

test('an append of usual size is prepared at once, a long one in several turns of the event loop', async () => {
  const preparation = new Preparation()
  expect(preparation.prepare(job('short'))).toMatchObject({ characters: 5 })
  let turns = 0
  let isDone = false
  const given = job(long.repeat(4))
  const preparing = Promise.resolve(preparation.prepare(given)).finally(() => {
    isDone = true
  })
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
  }
  expect(turns).toBeGreaterThan(2)
  const { messages } = await preparing
  expect(messages[0]?.fingerprint).toBe(messageFingerprint(given.messages[0]?.message as never))
})

test('appends that arrive while a long one of their thread is prepared keep their order; other threads do not wait', async () => {
  const preparation = new Preparation()
  const ended: string[] = []
  const follow = (name: string, given: IngestJob) =>
    Promise.resolve(preparation.prepare(given)).then(() => ended.push(name))
  await Promise.all([follow('long', job(long)), follow('after it', job('short')), follow('other', job('short', 'u'))])
  expect(ended).toEqual(['other', 'long', 'after it'])
  expect(preparation.prepare(job('short'))).not.toBeInstanceOf(Promise)
})
