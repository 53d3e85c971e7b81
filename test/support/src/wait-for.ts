import { setTimeout as wait } from 'node:timers/promises'

export interface WaitForOptions {
  /** Default 10,000. */
  timeoutMs?: number
  /** Default 20. */
  everyMs?: number
  /** The awaited condition, for the error. */
  what?: string
}

/**
 * Polls until a condition is true, for effects in other processes that send no event that a test could await.
 *
 * @returns the first value that is not false, null or undefined
 * @throws Error after the timeout; its cause is the condition's last own error
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 10_000, everyMs = 20, what = 'the condition' }: WaitForOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const endMs = performance.now() + timeoutMs
  let cause: unknown
  do {
    try {
      const value = await condition()
      if (value !== false && value !== null && value !== undefined) {
        return value as Exclude<T, false | null | undefined>
      }
      cause = undefined
    } catch (error) {
      cause = error
    }
    await wait(everyMs)
  } while (performance.now() < endMs)
  throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`, { cause })
}
