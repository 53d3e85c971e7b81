import { PermanentError, RetryableError } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { retryUntil } from './retrying.js'

const away = new RetryableError('SERVICE_UNAVAILABLE', 'away')

function retryPolicy(clock: ManualClock, deadlineMs: number) {
  return { clock, endsAtMs: clock.monotonicMs() + deadlineMs }
}

test('a temporary error is retried until success', async () => {
  const clock = new ManualClock()
  let tries = 0
  const done = retryUntil(
    async () => {
      if (++tries < 4) throw away
      return 'done'
    },
    retryPolicy(clock, 30_000),
  )
  await clock.advance(30_000)
  expect(await done).toBe('done')
  expect(tries).toBe(4)
})

test('a permanent error is thrown at once, and a temporary one at the deadline', async () => {
  const clock = new ManualClock()
  const refused = new PermanentError('UNAUTHORIZED', 'no')
  await expect(retryUntil(() => Promise.reject(refused), retryPolicy(clock, 1_000))).rejects.toBe(refused)
  const startedMs = clock.nowMs()
  const gone = retryUntil(() => Promise.reject(away), retryPolicy(clock, 5_000)).catch((error: unknown) => ({
    error,
    tookMs: clock.nowMs() - startedMs,
  }))
  await clock.advance(10_000)
  expect(await gone).toMatchObject({ error: away })
  expect((await gone) as object).toHaveProperty(
    'tookMs',
    expect.toSatisfy((ms: number) => ms > 3_000 && ms <= 5_000),
  )
})

test('a server that never answers is given up at the deadline', async () => {
  const clock = new ManualClock()
  const hung = retryUntil(() => new Promise(() => {}), retryPolicy(clock, 2_000)).catch((error: unknown) => error)
  await clock.advance(2_000)
  expect(await hung).toMatchObject({ code: 'TIMEOUT', disposition: 'retry' })
})

test('no attempt is made before the time in the error', async () => {
  const clock = new ManualClock()
  const startedMs = clock.nowMs()
  const triedAtMs: number[] = []
  const done = retryUntil(
    async () => {
      triedAtMs.push(clock.nowMs() - startedMs)
      if (triedAtMs.length === 1) throw new RetryableError('RATE_LIMITED', 'full', { retryAfter: 2 })
    },
    retryPolicy(clock, 30_000),
  )
  await clock.advance(5_000)
  await done
  expect(triedAtMs[1]).toBeGreaterThanOrEqual(2_000)
})

test('a signal ends the delay before the next attempt, with its reason', async () => {
  const clock = new ManualClock()
  const controller = new AbortController()
  const waiting = retryUntil(() => Promise.reject(away), {
    ...retryPolicy(clock, 30_000),
    signal: controller.signal,
  }).catch((error: unknown) => error)
  await clock.advance(0)
  controller.abort(new Error('enough'))
  expect(await waiting).toMatchObject({ message: 'enough' })
})
