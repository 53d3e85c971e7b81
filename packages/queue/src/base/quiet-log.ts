import type { Clock, Logger } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'

const REPEAT_MS = 10_000
/** Texts remembered for suppression. Texts may hold ids, so their number is unbounded. */
const TEXTS_MAX = 100

/**
 * Logs errors that repeat while a server is down: the first at once, the same text again only after ten seconds, with the
 * number of suppressed ones. Otherwise a worker that retries each 100 ms would fill a disk.
 */
export function createQuietLog(log: Logger, clock: Clock): (error: unknown, message: string) => void {
  const seen = new LRUCache<string, { atMs: number; suppressed: number }>({ max: TEXTS_MAX })
  return (error, message) => {
    const key = `${message}: ${error instanceof Error ? `${error.name} ${error.message}` : String(error)}`
    const nowMs = clock.monotonicMs()
    const last = seen.get(key)
    if (last !== undefined && nowMs - last.atMs < REPEAT_MS) {
      last.suppressed += 1
      return
    }
    seen.set(key, { atMs: nowMs, suppressed: 0 })
    log.warn({ error, ...(last !== undefined && { suppressed: last.suppressed }) }, message)
  }
}
