/**
 * Waits for a promise, but not for ever.
 *
 * @throws what `late` makes, once `timeoutMs` has passed; the promise's own end is ignored then
 */
export function within<T>(promise: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // The answer may be here and unread, where the loop itself was held up: then it comes in this turn, before the rejection.
    const timer = setTimeout(() => setImmediate(() => reject(late())), timeoutMs)
    promise.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** True if a promise settled, in whatever way, within the time. */
export async function settles(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const late = new Error('late')
  try {
    await within(promise, timeoutMs, () => late)
    return true
  } catch (error) {
    return error !== late
  }
}
