import { limits, validationError } from '@heddle/contracts'

/** @throws PermanentError `VALIDATION_ERROR` */
export function checkDeadline(deadlineMs: number): void {
  if (deadlineMs >= 1 && deadlineMs <= limits.waitMsMax) return
  throw validationError('deadlineMs', `must be 1 to ${limits.waitMsMax} milliseconds`, deadlineMs)
}

/** The clock functions used for waiting; the runtime's clock has them. */
export interface WaitingClock {
  monotonicMs(): number
  wait(ms: number, signal?: AbortSignal): Promise<void>
  after(ms: number, callback: () => void): () => void
}

export interface Deadline {
  readonly timeoutMs: number
  /** The error after the deadline. */
  readonly late: () => Error
  readonly signal?: AbortSignal | undefined
  /** Default: the clock of the platform. */
  readonly clock?: Pick<WaitingClock, 'after'>
}

/**
 * Waits for work until a deadline. The work continues after that, unless its caller stops it.
 *
 * Uses callbacks and no signal of its own, because thousands of appends wait at once.
 *
 * @throws the error of the work, or `late`; the signal's reason
 */
export function untilDeadline<T>(
  work: Promise<T>,
  { timeoutMs, late, signal, clock = platformClock }: Deadline,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => settle(() => reject(signal?.reason))
    const cancel = clock.after(timeoutMs, () => settle(() => reject(late())))
    const settle = (then: () => void) => {
      cancel()
      signal?.removeEventListener('abort', onAbort)
      then()
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}

/** Works in a page and in Node. */
export const platformClock: WaitingClock = {
  monotonicMs: () => performance.now(),
  wait: (ms, signal) =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = platformClock.after(ms, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}
