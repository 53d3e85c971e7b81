import { within } from '@heddle/runtime'
import { bounds } from './bounds.js'
import { namedError, unavailable } from './errors.js'

/** @throws the error of `late` after `timeoutMs`; the promise's own result is then ignored */
export function inTime<T>(promise: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  return within(promise, {
    timeoutMs,
    late: () => {
      throw late()
    },
  })
}

/** True if a promise was fulfilled or rejected within the time. */
export async function settles(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  )
  return await within(settled, { timeoutMs, late: () => false })
}

/** Adds a time limit to a driver's call, and converts its errors. */
export async function bounded<T>(work: Promise<T>, server: 'Redis' | 'Postgres'): Promise<T> {
  try {
    return await inTime(work, bounds.producerWaitMs, () => unavailable(server))
  } catch (error) {
    throw namedError(error, server)
  }
}
