import type { Logger } from './logger.js'
import { within } from './timeout.js'

export type ShutdownReason = 'SIGINT' | 'SIGTERM'

export interface ShutdownOptions {
  /** How long `close` may take, in milliseconds, before the process exits anyway. */
  timeoutMs: number
  log: Logger
  /** What is listened to and ended; tests give their own. Default: this process. */
  host?: ShutdownHost
}

/** The part of `process` that a shutdown touches. */
export interface ShutdownHost {
  on(signal: ShutdownReason, listener: () => void): unknown
  off(signal: ShutdownReason, listener: () => void): unknown
  exit(code: number): void
}

const EXIT_CODES: Record<ShutdownReason, number> = { SIGINT: 130, SIGTERM: 143 }

/**
 * Closes the process in good order at its first SIGINT or SIGTERM. A second signal, or a close that takes longer than
 * `timeoutMs`, ends it at once: whoever stops a process must never have to wait for ever. What is cut off by that is
 * taken up again by others, because jobs are only wake-ups.
 *
 * The exit code is 0 after a close in good order, 1 if it failed or ran out of time, and the signal's own
 * (130 or 143) at a second signal.
 *
 * @returns a function that stops listening
 */
export function onShutdown(close: (reason: ShutdownReason) => Promise<void>, options: ShutdownOptions): () => void {
  const host: ShutdownHost = options.host ?? process
  let closing = false

  const listenerFor = (reason: ShutdownReason) => () => {
    if (closing) {
      options.log.warn({ reason }, 'stopped at once by a second signal')
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
      return isClosed ? 0 : 1
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
