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
