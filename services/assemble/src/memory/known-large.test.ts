import type { AssembleJob } from '@heddle/contracts'
import { keyWithBase } from '@heddle/core'
import { done, type Job, LargeJobError, type LargeJobs } from '@heddle/queue'
import type { NewEvent } from '@heddle/store'
import { expect, test } from 'vitest'
import { KnownLarge } from './known-large.js'

const size = { messages: 10_000, tokens: 1_000_000 }
const jobOf = (payload: AssembleJob): Job<AssembleJob> => ({
  payload,
  jobId: '1',
  attempt: 1,
  attemptsMax: 3,
  signal: new AbortController().signal,
})
const context = (requestKey?: string): AssembleJob => ({
  projectId: '00000000-0000-4000-8000-000000000001',
  contextId: '00000000-0000-4000-8000-000000000002',
  requestKey,
})

test('a request that was too large is refused at once, and measured again after a minute', async () => {
  let nowMs = 0
  const known = new KnownLarge({ monotonicMs: () => nowMs })
  const elsewhere: LargeJobs<AssembleJob, NewEvent> = {
    sizeMax: { messages: 1, tokens: 1 },
    carryOut: async () => ({ outcome: done(), events: [] }),
  }
  const remembering = known.remembering(elsewhere)
  expect(remembering.sizeMax).toEqual(elsewhere.sizeMax)
  expect(() => known.refuse(context('a'))).not.toThrow()

  await remembering.carryOut(jobOf(context('a')), size)
  expect(() => known.refuse(context('a'))).toThrow(new LargeJobError(size))
  // The same request of a sender that has an earlier context.
  expect(() => known.refuse(context(keyWithBase('a', 'earlier')))).toThrow(new LargeJobError(size))
  expect(() => known.refuse(context('b'))).not.toThrow()
  nowMs = 59_999
  // Later requests do not postpone the next measurement.
  await remembering.carryOut(jobOf(context('a')), size)
  nowMs = 60_000
  expect(() => known.refuse(context('a'))).not.toThrow()
  await remembering.carryOut(jobOf(context()), size)
  expect(() => known.refuse(context())).not.toThrow()
})
