import { type Clock, systemClock } from './clock.js'

export interface Timeout<Late> {
  readonly timeoutMs: number
  /** Called once the time has passed; what it returns or throws is the outcome then. */
  readonly late: () => Late
  readonly clock?: Pick<Clock, 'after'>
}

/**
 * Waits for work, but not for ever. Work that takes too long goes on, and how it ends is ignored: who has a use for breaking it
 * off does so in `late`.
 *
 * @throws what the work throws in time, or `late`
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
    // Where the loop itself was held up the answer may be here and unread: it comes in this turn.
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
  /** The reason of the abort once the time has passed. */
  readonly late: () => Error
  /** Aborts the work as well, with its own reason. */
  readonly signal?: AbortSignal | undefined
  readonly clock?: Pick<Clock, 'after'>
}

/**
 * Hands work a signal that aborts when the time has passed, for work that can be stopped. Waits until the work has heeded it:
 * what ignores its signal is wrapped in `untilStopped`.
 *
 * @throws the reason of the abort, whatever error the work made of it; else what the work throws
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
