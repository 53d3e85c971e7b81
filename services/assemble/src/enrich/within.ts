import { RetryableError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'

/**
 * What takes too long is not broken off: the vectors that it makes are kept, and the next request finds them. Otherwise an
 * agent with more items than can be embedded in time would never get any.
 *
 * @throws RetryableError `TIMEOUT`
 */
export async function within<T>(
  working: Promise<T>,
  { timeoutMs, clock, what }: { timeoutMs: number; clock: Clock; what: string },
): Promise<T> {
  let callOff = () => {}
  const late = new Promise<never>((_, reject) => {
    callOff = clock.after(Math.max(1, timeoutMs), () =>
      reject(new RetryableError('TIMEOUT', `${what} was not done within ${timeoutMs} ms`)),
    )
  })
  try {
    return await Promise.race([working, late])
  } finally {
    callOff()
  }
}
