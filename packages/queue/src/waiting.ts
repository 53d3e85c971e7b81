/**
 * Waits for a promise, but not for ever.
 *
 * @throws what `late` makes, once `timeoutMs` has passed; the promise's own end is ignored then
 */
export async function within<T>(promise: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), timeoutMs)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
    promise.catch(() => {})
  }
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
