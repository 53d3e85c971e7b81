/**
 * Waits for a promise, but not for ever.
 *
 * @throws what `late` makes, once `timeoutMs` has passed; the promise's own end is ignored then
 */
export function within<T>(promise: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), timeoutMs)
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
