import type { Logger } from './logger.js'
import { within } from './timeout.js'

export type ShutdownReason = 'SIGINT' | 'SIGTERM'

export interface ShutdownOptions {
  /** Timeout of `close`, in milliseconds, after which the process exits anyway. */
  timeoutMs: number
  log: Logger
  /** Whether a stopped process leaves work undone, so that its exit code must not be 0. Default: false, as for a service. */
  leavesWork?: boolean
  /** The process to listen to and to end; tests pass their own. Default: this process. */
  host?: ShutdownHost
}

/** The part of `process` that a shutdown uses. */
export interface ShutdownHost {
  on(signal: ShutdownReason, listener: () => void): unknown
  off(signal: ShutdownReason, listener: () => void): unknown
  exit(code: number): void
}

const EXIT_CODES: Record<ShutdownReason, number> = { SIGINT: 130, SIGTERM: 143 }

/**
 * Closes the process in an orderly way on its first SIGINT or SIGTERM. A second signal, or a close that takes longer
 * than `timeoutMs`, ends it at once, so that an operator never waits forever. Interrupted work is resumed by other
 * processes, because jobs are only wake-ups.
 *
 * The exit code is 0 after an orderly close, 1 if it failed or timed out, and the signal's own (130 or 143) on a second
 * signal, and after an orderly close of a process that `leavesWork`.
 *
 * @returns a function that stops listening
 */
export function onShutdown(close: (reason: ShutdownReason) => Promise<void>, options: ShutdownOptions): () => void {
  const host: ShutdownHost = options.host ?? process
  let closing = false

  const listenerFor = (reason: ShutdownReason) => () => {
    if (closing) {
      options.log.warn({ reason }, 'stopped at once on a second signal')
      host.exit(EXIT_CODES[reason])
      return
    }
    closing = true
    options.log.info({ reason, timeoutMs: options.timeoutMs }, 'closing')
    void closeInTime(reason).then((code) => host.exit(code))
  }

  async function closeInTime(reason: ShutdownReason): Promise<number> {
    const { log, timeoutMs } = options
    try {
      const isClosed = await within(
        close(reason).then(() => true),
        { timeoutMs, late: () => false },
      )
      if (!isClosed) log.error({ reason, timeoutMs }, 'closing took too long: stopped')
      if (!isClosed) return 1
      return options.leavesWork === true ? EXIT_CODES[reason] : 0
    } catch (error) {
      log.error({ error, reason }, 'closing failed')
      return 1
    }
  }

  const onInterrupt = listenerFor('SIGINT')
  const onTerminate = listenerFor('SIGTERM')
  host.on('SIGINT', onInterrupt)
  host.on('SIGTERM', onTerminate)
  return () => {
    host.off('SIGINT', onInterrupt)
    host.off('SIGTERM', onTerminate)
  }
}
