import { HeddleError } from '@heddle/contracts'
import type { Clock, Logger } from '@heddle/runtime'
import { bounds } from './bounds.js'
import { isServerAway, namedError } from './errors.js'
import { createQuietLog } from './quiet-log.js'

export interface TroubleLogOptions {
  readonly log: Logger
  readonly clock: Clock
  readonly server: 'Redis' | 'Postgres'
  /** Throws while the server does not serve. */
  probe(): Promise<unknown>
}

export interface TroubleLog {
  report(error: unknown, message: string): void
  close(): void
}

interface Trouble {
  readonly sinceMs: number
  readonly reasons: Set<string>
  suppressed: number
}

/**
 * Logs changes of the server's state instead of every failed attempt: all workers and connections of a process see the same
 * errors of a full or absent server, each many times. The first error of each kind is logged, and one more line when the
 * server serves again.
 */
export function createTroubleLog({ log, clock, server, probe }: TroubleLogOptions): TroubleLog {
  const quietLog = createQuietLog(log, clock)
  const closing = new AbortController()
  let trouble: Trouble | null = null

  async function watch(current: Trouble): Promise<void> {
    for (;;) {
      try {
        await clock.wait(bounds.reconnectMsMax, closing.signal)
      } catch {
        return
      }
      try {
        await probe()
        break
      } catch (error) {
        report(error, 'the queues cannot work')
      }
    }
    trouble = null
    if (closing.signal.aborted) return
    const tookMs = Math.round(clock.monotonicMs() - current.sinceMs)
    log.info({ server, tookMs, suppressed: current.suppressed }, 'the queues work again')
  }

  function report(error: unknown, message: string): void {
    if (closing.signal.aborted) return
    const named = namedError(error, server)
    if (!isServerAway(error)) {
      quietLog(named, message)
      return
    }
    const reason = reasonOf(named)
    const isNew = trouble === null
    trouble ??= { sinceMs: clock.monotonicMs(), reasons: new Set(), suppressed: 0 }
    if (trouble.reasons.has(reason)) {
      trouble.suppressed += 1
    } else {
      trouble.reasons.add(reason)
      log.warn({ error: named, server }, `${message}; retrying until the server serves`)
    }
    if (isNew) void watch(trouble)
  }

  return { report, close: () => closing.abort() }
}

/** Errors of one kind have the same hint, while their messages may hold figures that change. */
function reasonOf(error: unknown): string {
  if (error instanceof HeddleError && error.hint !== undefined) return error.hint
  return error instanceof Error ? error.message : String(error)
}
