import type { Clock, Logger } from '@heddle/runtime'

const REPEAT_MS = 10_000

/**
 * Logs errors that repeat while a server is away: the first at once, the same text again only after ten seconds, with the
 * number of those left out. A worker that tries again each 100 ms would fill a disk otherwise.
 */
export function createQuietLog(log: Logger, clock: Clock): (error: unknown, message: string) => void {
  const seen = new Map<string, { atMs: number; suppressed: number }>()
  return (error, message) => {
    const key = `${message}: ${error instanceof Error ? `${error.name} ${error.message}` : String(error)}`
    const nowMs = clock.monotonicMs()
    const last = seen.get(key)
    if (last !== undefined && nowMs - last.atMs < REPEAT_MS) {
      last.suppressed += 1
      return
    }
    // Texts may hold ids, so the map is emptied now and then rather than grown for ever.
    if (seen.size > 100) seen.clear()
    seen.set(key, { atMs: nowMs, suppressed: 0 })
    log.warn({ error, ...(last !== undefined && { suppressed: last.suppressed }) }, message)
  }
}
