import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import type { QueueDepth } from '../base/backend.js'
import { bounds } from '../base/bounds.js'
import { QueueCapacity } from './queue-capacity.js'

/** A queue whose depth a test sets, and whose looks it counts. */
function queueOf(depth: QueueDepth, lookMs = 0) {
  const clock = new ManualClock()
  const state = { depth, looks: 0, clock }
  const capacity = new QueueCapacity({
    stage: 'ingest',
    limits: { jobsMax: 10, bytesMax: 1_000 },
    clock,
    async readDepth() {
      state.looks++
      if (lookMs > 0) await clock.wait(lookMs)
      return state.depth
    },
  })
  return { state, capacity, clock }
}

const small = { jobs: 1, bytes: 10 }

test('a queue that is full by jobs or by bytes refuses, and says when to come again', async () => {
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

test('what was admitted since the last look counts, so that a burst between two looks stays within the bound', async () => {
  const { capacity, state } = queueOf({ jobs: 4, bytes: 0 })
  const ends = await Promise.allSettled(Array.from({ length: 20 }, () => capacity.admit(small)))
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
  expect(state.looks).toBe(1)
})

test('what was refused takes no room', async () => {
  const { capacity } = queueOf({ jobs: 8, bytes: 0 })
  await expect(capacity.admit({ jobs: 3, bytes: 0 })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  await capacity.admit({ jobs: 2, bytes: 0 })
})

test('the queue is looked at again when its depth is old, and then has room', async () => {
  const { capacity, state, clock } = queueOf({ jobs: 10, bytes: 0 })
  await expect(capacity.admit(small)).rejects.toThrow()
  state.depth = { jobs: 0, bytes: 0 }
  await clock.advance(bounds.depthKnownMs - 1)
  await expect(capacity.admit(small)).rejects.toThrow()
  expect(state.looks).toBe(1)
  await clock.advance(1)
  await capacity.admit(small)
  expect(state.looks).toBe(2)
})

test('looks that take long are rare', async () => {
  const lookMs = 1_000
  const { capacity, state, clock } = queueOf({ jobs: 0, bytes: 0 }, lookMs)
  const admitted = capacity.admit(small)
  await clock.advance(lookMs)
  await admitted
  await clock.advance(lookMs / bounds.depthLookShareMax - 1)
  await capacity.admit(small)
  expect(state.looks).toBe(1)
})

test('what is larger than the bounds gets into an empty queue, as it never would otherwise', async () => {
  const { capacity } = queueOf({ jobs: 0, bytes: 0 })
  await capacity.admit({ jobs: 50, bytes: 5_000 })
  await expect(capacity.admit(small)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

test('a look that fails is told, and tried again with the next append', async () => {
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

test('a time of day that is set back keeps nobody from looking at the queue again', async () => {
  const { state, capacity, clock } = queueOf({ jobs: 10, bytes: 0 })
  await expect(capacity.admit(small)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  clock.jump(-365 * 86_400_000)
  state.depth = { jobs: 0, bytes: 0 }
  await clock.advance(bounds.depthKnownMs)
  await capacity.admit(small)
  expect(state.looks).toBe(2)
})
