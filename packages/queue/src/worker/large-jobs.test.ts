import { RetryableError } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { hereOrElsewhere, LargeJobError, type LargeJobs, refuseLargeJob, type WorkSize } from './large-jobs.js'
import { done, skipped } from './outcome.js'

const job = { payload: 'a', jobId: '1', attempt: 1, attemptsMax: 3, signal: new AbortController().signal }
const sizeMax = { messages: 10, tokens: 100 }

/** Runs a job of a given size here, or elsewhere if it is too large. */
async function carryOut(size: WorkSize, large: LargeJobs<string, string> | undefined) {
  const published: string[] = []
  const outcome = await hereOrElsewhere({
    job,
    large,
    async here(most) {
      refuseLargeJob(size, most)
      return skipped('here')
    },
    publish: (event: string) => published.push(event),
  })
  return { outcome, published }
}

const elsewhere = (sizes: WorkSize[]): LargeJobs<string, string> => ({
  sizeMax,
  async carryOut(_, size) {
    sizes.push(size)
    return { outcome: done(), events: ['built', 'sent'] }
  },
})

for (const size of [
  { messages: 11, tokens: 1 },
  { messages: 1, tokens: 101 },
]) {
  test(`a job of ${size.messages} messages and ${size.tokens} tokens runs elsewhere, and its events are published`, async () => {
    const sizes: WorkSize[] = []
    expect(await carryOut(size, elsewhere(sizes))).toEqual({ outcome: done(), published: ['built', 'sent'] })
    expect(sizes).toEqual([size])
  })
}

test('a job up to the limit runs here', async () => {
  const sizes: WorkSize[] = []
  expect(await carryOut(sizeMax, elsewhere(sizes))).toEqual({ outcome: skipped('here'), published: [] })
  expect(sizes).toEqual([])
})

test('every job runs here if there is no other place', async () => {
  expect(await carryOut({ messages: 1e9, tokens: 1e9 }, undefined)).toEqual({ outcome: skipped('here'), published: [] })
})

test('an error elsewhere fails the job, and after an error here it is not retried elsewhere', async () => {
  const failing: LargeJobs<string, string> = {
    sizeMax,
    carryOut: async () => {
      throw new RetryableError('SERVICE_UNAVAILABLE', 'the thread died')
    },
  }
  await expect(carryOut({ messages: 11, tokens: 0 }, failing)).rejects.toThrow('the thread died')
  const here = async () => {
    throw new RangeError('too far')
  }
  await expect(hereOrElsewhere({ job, large: failing, here, publish: () => {} })).rejects.toThrow(RangeError)
  expect(() => refuseLargeJob({ messages: 11, tokens: 0 }, sizeMax)).toThrow(LargeJobError)
})
