/** Source of time. Code that waits or compares times takes one, so that tests need not sleep. */
export interface Clock {
  /** The time now, in milliseconds since 1970. */
  nowMs(): number
  /**
   * Milliseconds since an arbitrary moment, unaffected by clock changes: for durations and timeouts. If the time of day
   * jumps, a comparison with it may hold for a year, or end at once.
   */
  monotonicMs(): number
  /**
   * Waits.
   *
   * @throws the signal's reason, once `signal` is aborted; the timer is then cancelled
   */
  wait(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Calls back after a delay: for thousands of waits, for which promises and signals would cost more than the work
   * itself.
   *
   * @returns cancels it
   */
  after(ms: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  // Not the wait of Node's `timers/promises`, which makes an error with a stack for each cancelled wait.
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}
