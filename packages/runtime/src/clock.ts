import { setTimeout as wait } from 'node:timers/promises'

/** Where time comes from. Code that waits or compares times takes one, so that tests need not sleep. */
export interface Clock {
  /** The time now, in milliseconds since 1970. */
  nowMs(): number
  /**
   * Waits.
   *
   * @throws the signal's reason, once `signal` is aborted; nothing keeps running then
   */
  wait(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  async wait(ms, signal) {
    signal?.throwIfAborted()
    try {
      await wait(ms, undefined, signal === undefined ? {} : { signal })
    } catch (error) {
      // Node wraps the reason into an AbortError of its own.
      signal?.throwIfAborted()
      throw error
    }
  },
}
