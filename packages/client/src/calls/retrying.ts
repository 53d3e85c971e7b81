import { HeddleError, RetryableError } from '@heddle/contracts'
import { untilDeadline, type WaitingClock } from './deadline.js'

/** The deadline of retries, and its clock. */
export interface RetryPolicy {
  readonly clock: WaitingClock
  readonly endsAtMs: number
  readonly signal?: AbortSignal | undefined
}

const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 1_000

/**
 * Retries work after temporary failures: a server that is unavailable, a queue that is full.
 *
 * @throws the error of the work if it is permanent, or if the time for another attempt has run out
 * @throws RetryableError `TIMEOUT` if it did not end in time; the signal's reason
 */
export async function retryUntil<T>(work: () => Promise<T>, retryPolicy: RetryPolicy): Promise<T> {
  const { clock, endsAtMs, signal } = retryPolicy
  for (let tries = 0; ; tries++) {
    signal?.throwIfAborted()
    try {
      const leftMs = Math.max(1, endsAtMs - clock.monotonicMs())
      return await untilDeadline(work(), { timeoutMs: leftMs, late: () => late(leftMs), signal, clock })
    } catch (error) {
      signal?.throwIfAborted()
      const pauseMs = pauseAfter(error, tries)
      if (!isWorthRetrying(error) || clock.monotonicMs() + pauseMs >= endsAtMs) throw error
      await clock.wait(pauseMs, signal)
    }
  }
}

export function isWorthRetrying(error: unknown): boolean {
  return !(error instanceof HeddleError) || error.disposition === 'retry'
}

/** The delay before the next attempt: at least the time in the error, plus jitter. */
export function pauseAfter(error: unknown, tries: number): number {
  const backoffMs = Math.min(PAUSE_MS_MIN * 2 ** tries, PAUSE_MS_MAX)
  const namedMs = error instanceof HeddleError ? (error.retryAfter ?? 0) * 1_000 : 0
  return namedMs + backoffMs / 2 + (backoffMs / 2) * Math.random()
}

function late(leftMs: number): RetryableError {
  return new RetryableError('TIMEOUT', `no answer within ${Math.ceil(leftMs)} ms`, {
    hint: 'Sending the same ids again is harmless; `heddle doctor` shows which server does not answer.',
  })
}
