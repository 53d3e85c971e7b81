import { setTimeout as wait } from 'node:timers/promises'

/** Together with the waits for locks between them: longer than the longest transaction, which ends after two and a half minutes. */
const TRIES_MAX = 400
const PAUSE_MS = 300

/** The code of a statement that waited for a lock in vain. */
const LOCK_NOT_AVAILABLE = '55P03'

/** Repeats work that waits briefly for a lock, so that nobody waits behind it for long. @throws the last error */
export async function retried<T>(work: () => Promise<T>, triesMax = TRIES_MAX): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries >= triesMax || !isBusy(error)) throw error
      await wait(PAUSE_MS)
    }
  }
}

export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE
}
