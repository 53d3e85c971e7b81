import { type Clock, systemClock } from './clock.js'

export interface Timeout<Late> {
  readonly timeoutMs: number
  /** Called after the timeout; its result or error becomes the outcome. */
  readonly late: () => Late
  readonly clock?: Pick<Clock, 'after'>
}

/**
 * Waits for work with a timeout. Work that takes too long continues, and its outcome is ignored; `late` may stop it.
 *
 * @throws the error of the work in time, or of `late`
 */
export async function within<Value, Late = never>(
  work: Promise<Value>,
  { timeoutMs, late, clock = systemClock }: Timeout<Late>,
): Promise<Value | Late> {
  if (timeoutMs === Number.POSITIVE_INFINITY) return await work
  let isOver = false
  let cancel = () => {}
  const overdue = new Promise<Late>((resolve, reject) => {
    const giveUp = () => {
      if (isOver) return
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    }
    // If the event loop was blocked, the answer may have arrived unread: it is handled in this iteration.
    cancel = clock.after(timeoutMs, () => setImmediate(giveUp))
  })
  try {
    return await Promise.race([work, overdue])
  } finally {
    isOver = true
    cancel()
  }
}

export interface Deadline {
  readonly timeoutMs: number
  /** The reason of the abort after the timeout. */
  readonly late: () => Error
  /** Also aborts the work, with its own reason. */
  readonly signal?: AbortSignal | undefined
  readonly clock?: Pick<Clock, 'after'>
}

/**
 * Passes work a signal that aborts after the timeout, for work that can be stopped. Waits until the work has reacted:
 * work that ignores its signal must be wrapped in `untilStopped`.
 *
 * @throws the reason of the abort, whatever error the work throws then; else the error of the work
 */
export async function withDeadline<Value>(
  work: (signal: AbortSignal) => Promise<Value>,
  { timeoutMs, late, signal, clock = systemClock }: Deadline,
): Promise<Value> {
  const deadline = new AbortController()
  const either = signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal])
  const cancel = clock.after(timeoutMs, () => deadline.abort(late()))
  try {
    return await work(either)
  } catch (error) {
    either.throwIfAborted()
    throw error
  } finally {
    cancel()
  }
}
