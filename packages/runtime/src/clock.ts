/** Where time comes from. Code that waits or compares times takes one, so that tests need not sleep. */
export interface Clock {
  /** The time now, in milliseconds since 1970. */
  nowMs(): number
  /**
   * Milliseconds since some moment, which neither an operator nor a time server can set: for how long something lasted or may
   * last. The time of day jumps, and what compares with it then holds for a year, or ends at once.
   */
  monotonicMs(): number
  /**
   * Waits.
   *
   * @throws the signal's reason, once `signal` is aborted; nothing keeps running then
   */
  wait(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Calls back after a while: for waits that come by the thousand, where promises and signals would cost more than what
   * is waited for.
   *
   * @returns calls it off
   */
  after(ms: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  // Not the wait of Node's `timers/promises`: it makes an error with a stack of its own for each wait that is called off.
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
