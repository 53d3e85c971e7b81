import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import type { QueueDepth } from '../base/backend.js'
import { bounds } from '../base/bounds.js'
import { QueueCapacity } from './queue-capacity.js'

/** A queue whose depth is set by the test, and whose polls are counted. */
function queueOf(depth: QueueDepth, pollMs = 0) {
  const clock = new ManualClock()
  const state = { depth, polls: 0, clock }
  const capacity = new QueueCapacity({
    stage: 'ingest',
    limits: { jobsMax: 10, bytesMax: 1_000 },
    clock,
    async readDepth() {
      state.polls++
      if (pollMs > 0) await clock.wait(pollMs)
      return state.depth
    },
  })
  return { state, capacity, clock }
}

const small = { jobs: 1, bytes: 10 }

test('a queue that is full by jobs or by bytes refuses work with a retryAfter', async () => {
  for (const depth of [
    { jobs: 10, bytes: 0 },
    { jobs: 1, bytes: 995 },
  ]) {
    await expect(queueOf(depth).capacity.admit(small)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      disposition: 'retry',
      retryAfter: bounds.busyRetryAfterSeconds,
      facts: { waitingJobs: depth.jobs, jobsMax: 10, bytesMax: 1_000 },
    })
  }
})

test('work admitted since the last poll counts, so that a burst between two polls stays within the limit', async () => {
  const { capacity, state } = queueOf({ jobs: 4, bytes: 0 })
  const ends = await Promise.allSettled(Array.from({ length: 20 }, () => capacity.admit(small)))
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
  expect(state.polls).toBe(1)
})

test('refused work uses no capacity', async () => {
  const { capacity } = queueOf({ jobs: 8, bytes: 0 })
  await expect(capacity.admit({ jobs: 3, bytes: 0 })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  await capacity.admit({ jobs: 2, bytes: 0 })
})

test('the queue is polled again when the cached depth has expired, and then admits work', async () => {
  const { capacity, state, clock } = queueOf({ jobs: 10, bytes: 0 })
  await expect(capacity.admit(small)).rejects.toThrow()
  state.depth = { jobs: 0, bytes: 0 }
  await clock.advance(bounds.depthKnownMs - 1)
  await expect(capacity.admit(small)).rejects.toThrow()
  expect(state.polls).toBe(1)
  await clock.advance(1)
  await capacity.admit(small)
  expect(state.polls).toBe(2)
})

test('slow polls are rare', async () => {
  const pollMs = 1_000
  const { capacity, state, clock } = queueOf({ jobs: 0, bytes: 0 }, pollMs)
  const admitted = capacity.admit(small)
  await clock.advance(pollMs)
  await admitted
  await clock.advance(pollMs / bounds.depthPollShareMax - 1)
  await capacity.admit(small)
  expect(state.polls).toBe(1)
})

test('work above the limits is admitted to an empty queue, since otherwise it never would be', async () => {
  const { capacity } = queueOf({ jobs: 0, bytes: 0 })
  await capacity.admit({ jobs: 50, bytes: 5_000 })
  await expect(capacity.admit(small)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

test('a failed poll fails the append, and is retried with the next one', async () => {
  const clock = new ManualClock()
  let isAway = true
  const capacity = new QueueCapacity({
    stage: 'ingest',
    limits: { jobsMax: 1, bytesMax: 1 },
    clock,
    async readDepth() {
      if (isAway) throw new Error('away')
      return { jobs: 0, bytes: 0 }
    },
  })
  await expect(capacity.admit(small)).rejects.toThrow('away')
  isAway = false
  await capacity.admit(small)
})

test('the queue is polled again although the time of day was set back', async () => {
  const { state, capacity, clock } = queueOf({ jobs: 10, bytes: 0 })
  await expect(capacity.admit(small)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  clock.jump(-365 * 86_400_000)
  state.depth = { jobs: 0, bytes: 0 }
  await clock.advance(bounds.depthKnownMs)
  await capacity.admit(small)
  expect(state.polls).toBe(2)
})
