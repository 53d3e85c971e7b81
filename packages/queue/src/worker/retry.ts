import { backoffMsMax, errorData, HeddleError, type StageName, stages } from '@heddle/contracts'
import { bounds } from '../base/bounds.js'

/** What becomes of a job whose handler threw. */
export type Verdict = { kind: 'give-up' } | { kind: 'retry'; delayMs: number }

export interface FailedTry {
  stage: StageName
  error: unknown
  /** From 1. */
  attempt: number
  attemptsMax: number
}

/** An ordinary throw means retry, as long as there are tries left. */
export function judge({ stage, error, attempt, attemptsMax }: FailedTry): Verdict {
  if (error instanceof HeddleError && error.disposition !== 'retry') return { kind: 'give-up' }
  if (attempt >= attemptsMax) return { kind: 'give-up' }
  return { kind: 'retry', delayMs: retryDelayMs(stage, attempt, error, Math.random()) }
}

/**
 * The wait before the next try: doubled with each, half of it by chance, so that jobs that failed together do not come
 * back together; and not before the time that the error names.
 *
 * @param chance 0 to 1
 */
export function retryDelayMs(stage: StageName, attempt: number, error: unknown, chance: number): number {
  const wholeMs = Math.min(stages[stage].backoffMs * 2 ** (attempt - 1), backoffMsMax)
  const backoffMs = wholeMs / 2 + (wholeMs / 2) * chance
  const retryAfterMs = error instanceof HeddleError ? (error.retryAfter ?? 0) * 1_000 : 0
  return Math.max(1, Math.round(Math.max(backoffMs, Math.min(retryAfterMs, bounds.retryAfterMsMax))))
}

/** Carries the delay through BullMQ to its backoff strategy. The text is short: BullMQ keeps it with the job. */
export class RetryLater extends Error {
  override name = 'RetryLater'
  readonly delayMs: number
  constructor(error: unknown, delayMs: number) {
    super(errorData(error).code)
    this.delayMs = delayMs
  }
}
