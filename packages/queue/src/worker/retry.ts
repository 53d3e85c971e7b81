import { backoffMsMax, errorData, HeddleError, type StageName, stages } from '@heddle/contracts'
import { backOffMs } from '@heddle/runtime'
import { bounds } from '../base/bounds.js'

/** The decision on a job whose handler threw. */
export type Verdict = { kind: 'give-up' } | { kind: 'retry'; delayMs: number }

export interface FailedTry {
  stage: StageName
  error: unknown
  /** From 1. */
  attempt: number
  attemptsMax: number
}

/** Errors are retried unless they say otherwise, as long as attempts are left. */
export function judge({ stage, error, attempt, attemptsMax }: FailedTry): Verdict {
  if (error instanceof HeddleError && error.disposition !== 'retry') return { kind: 'give-up' }
  if (attempt >= attemptsMax) return { kind: 'give-up' }
  return { kind: 'retry', delayMs: retryDelayMs(stage, attempt, error) }
}

/**
 * The wait before the next attempt: doubled with each, half of it random, so that jobs that failed together are not retried
 * together; and at least the time in the error's `retryAfter`.
 *
 * @param random a number from 0 to 1
 */
export function retryDelayMs(stage: StageName, attempt: number, error: unknown, random?: () => number): number {
  const wait = { firstMs: stages[stage].backoffMs, maxMs: backoffMsMax, jitter: 0.5 }
  const backoffMs = backOffMs(attempt - 1, wait, random)
  const retryAfterMs = error instanceof HeddleError ? (error.retryAfter ?? 0) * 1_000 : 0
  return Math.max(1, Math.round(Math.max(backoffMs, Math.min(retryAfterMs, bounds.retryAfterMsMax))))
}

/** Passes the delay through BullMQ to its backoff strategy. The text is short, because BullMQ stores it with the job. */
export class RetryLater extends Error {
  override name = 'RetryLater'
  readonly delayMs: number
  constructor(error: unknown, delayMs: number) {
    super(errorData(error).code)
    this.delayMs = delayMs
  }
}
