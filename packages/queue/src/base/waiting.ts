import { within } from '@heddle/runtime'
import { bounds } from './bounds.js'
import { namedError, unavailable } from './errors.js'

/** @throws what `late` makes, once `timeoutMs` has passed; the promise's own end is ignored then */
export function inTime<T>(promise: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  return within(promise, {
    timeoutMs,
    late: () => {
      throw late()
    },
  })
}

/** True if a promise settled, in whatever way, within the time. */
export async function settles(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  )
  return await within(settled, { timeoutMs, late: () => false })
}

/** Puts a bound and a name on what a driver does. */
export async function bounded<T>(work: Promise<T>, server: 'Redis' | 'Postgres'): Promise<T> {
  try {
    return await inTime(work, bounds.producerWaitMs, () => unavailable(server))
  } catch (error) {
    throw namedError(error, server)
  }
}
