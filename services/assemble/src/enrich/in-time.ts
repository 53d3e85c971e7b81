import { RetryableError } from '@heddle/contracts'
import { type Clock, within } from '@heddle/runtime'

/**
 * Work that times out is not aborted: its vectors are stored, and the next request finds them. Otherwise an agent with more
 * items than can be embedded in time would never get any.
 *
 * @throws RetryableError `TIMEOUT`
 */
export function inTime<T>(
  working: Promise<T>,
  { timeoutMs, clock, what }: { timeoutMs: number; clock: Clock; what: string },
): Promise<T> {
  const late = () => {
    throw new RetryableError('TIMEOUT', `${what} did not finish within ${timeoutMs} ms`)
  }
  return within(working, { timeoutMs: Math.max(1, timeoutMs), late, clock })
}
