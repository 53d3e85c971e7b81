import { ConflictError, PermanentError, RetryableError, stages } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judge, retryDelayMs } from './retry.js'

describe('the decision after a failed attempt', () => {
  const failed = { stage: 'ingest', attempt: 1, attemptsMax: 3 } as const

  it('is to give up on permanent errors and conflicts at once, and on others after the last attempt', () => {
    expect(judge({ ...failed, error: new PermanentError('NOT_FOUND', 'gone') }).kind).toBe('give-up')
    expect(judge({ ...failed, error: new ConflictError('other content') }).kind).toBe('give-up')
    expect(judge({ ...failed, error: new RetryableError('TIMEOUT', 'slow') }).kind).toBe('retry')
    expect(judge({ ...failed, error: 'a text' }).kind).toBe('retry')
    expect(judge({ ...failed, attempt: 3, error: new Error('again') }).kind).toBe('give-up')
  })
})

describe('the delay before the next attempt', () => {
  it('doubles with each attempt, up to half a minute, and half of it is random', () => {
    const base = stages.ingest.backoffMs
    expect(retryDelayMs('ingest', 1, null, () => 0)).toBe(base / 2)
    expect(retryDelayMs('ingest', 1, null, () => 1)).toBe(base)
    expect(retryDelayMs('ingest', 3, null, () => 1)).toBe(base * 4)
    expect(retryDelayMs('ingest', 50, null, () => 1)).toBe(30_000)
  })

  it('is at least retryAfter of the error, and at most a quarter of an hour', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        (attempt, retryAfter) => {
          const delayMs = retryDelayMs(
            'summarize',
            attempt,
            new RetryableError('RATE_LIMITED', 'busy', { retryAfter }),
            () => 0.5,
          )
          expect(delayMs).toBeGreaterThanOrEqual(Math.min(Math.round(retryAfter * 1_000), 900_000))
          expect(delayMs).toBeLessThanOrEqual(900_000)
        },
      ),
    )
  })
})
