import { messageFingerprint, projectIdOf } from '@heddle/core'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { type SenderParts, sendJob } from './send-job.js'

const job = { projectId: projectIdOf('p'), requestId: projectIdOf('request'), agent: 'a', thread: 't', messages: [] }

test('a job without a reply is sent again, each time after twice the wait, up to a minute', async () => {
  const clock = new ManualClock()
  const startedMs = clock.nowMs()
  const sentAfterSeconds: number[] = []
  let answer = (_: boolean) => {}
  const queues = {
    inbox: 'inbox',
    admit: async () => {},
    acquireShare: () => () => {},
    add: async () => void sentAfterSeconds.push((clock.nowMs() - startedMs) / 1_000),
    expectReply: () => ({ result: new Promise<boolean>((resolve) => (answer = resolve)), cancel() {}, fail() {} }),
  }
  const parts = { queues, projectId: job.projectId } as unknown as SenderParts
  const options = { clock, endsAtMs: startedMs + 600_000, ack: 'stored', waitsForCapacity: false } as const
  const sending = sendJob(parts, 't', { job, bytes: 1 }, options)
  await clock.advance(200_000)
  answer(true)
  await sending
  await clock.advance(200_000)
  expect(sentAfterSeconds).toEqual([0, 5, 15, 35, 75, 135, 195])
})

test('a job that contains a message twice is found stored by a query of the store', async () => {
  const clock = new ManualClock()
  const id = '018f0000-0000-7000-8000-000000000001'
  const placed = { message: { id, role: 'user' as const, content: 'x' }, ordinal: 0, orderedAt: '2026-01-01T00:00:00Z' }
  const queues = {
    inbox: 'inbox',
    admit: async () => {},
    acquireShare: () => () => {},
    add: async () => {},
    expectReply: ({ read }: { read: () => Promise<unknown> }) => ({
      result: read().then((value) => looked.push(value)),
      cancel() {},
      fail() {},
    }),
  }
  const looked: unknown[] = []
  const store = { inProject: async () => new Map([[id, messageFingerprint(placed.message)]]) }
  const parts = { queues, store, projectId: job.projectId } as unknown as SenderParts
  const options = { clock, endsAtMs: clock.nowMs() + 10_000, ack: 'stored', waitsForCapacity: false } as const
  await sendJob(parts, 't', { job: { ...job, messages: [placed, placed] }, bytes: 1 }, options)
  expect(looked).toEqual([true])
})
