import { errorData } from '@heddle/contracts'
import { type Logger, systemClock } from '@heddle/runtime'
import type { Server } from './server.js'

/**
 * The cause of repeated deaths, such as a full disk, is removed by an administrator at some time: restarts are attempted less
 * often, but without end.
 */
const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 5_000
/** After this uptime the next restart begins with the shortest pause again. */
const STEADY_MS = 60_000

interface SuperviseOptions {
  server: Server
  launch: () => Promise<Server>
  /** Publishes the server's pid to other processes; null if none runs. */
  announce: (pid: number | null) => Promise<void>
  log: Logger
}

/** Restarts the server whenever it ends unexpectedly, for example killed for lack of memory or by hand. */
export function supervise({ server, launch, announce, log }: SuperviseOptions): { stop(): Promise<void> } {
  let current = server
  const stopping = new AbortController()
  const watching = watch()

  async function watch(): Promise<void> {
    let pauseMs = 0
    for (;;) {
      const startedMs = performance.now()
      await current.ended
      if (stopping.signal.aborted) return
      if (performance.now() - startedMs > STEADY_MS) pauseMs = 0
      log.warn({ serverPid: current.pid }, 'embedded Postgres has died and is restarted')
      if (!(await restart(pauseMs))) return
      pauseMs = longer(pauseMs)
    }
  }

  /** Retries until the server runs; a repeated error is logged once. @returns false if it must stop */
  async function restart(firstPauseMs: number): Promise<boolean> {
    let reason: string | null = null
    for (let pauseMs = firstPauseMs; ; pauseMs = longer(pauseMs)) {
      await systemClock.wait(pauseMs, stopping.signal).catch(() => {})
      if (stopping.signal.aborted) return false
      try {
        current = await launch()
        if (stopping.signal.aborted) return await current.stop().then(() => false)
        await announce(current.pid)
        if (reason !== null) log.info({ serverPid: current.pid }, 'embedded Postgres runs again')
        return true
      } catch (error) {
        const { detail } = errorData(error)
        if (detail !== reason) log.error({ error }, 'restarting embedded Postgres failed; will retry')
        reason = detail
      }
    }
  }

  async function stop(): Promise<void> {
    stopping.abort()
    await current.stop()
    await watching
    // If this cannot be written, as on a full disk, the next start chooses another port.
    await announce(null).catch((error: unknown) => log.warn({ error }, 'server.json could not be written'))
  }

  let stopped: Promise<void> | undefined
  return {
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

function longer(pauseMs: number): number {
  return Math.min(PAUSE_MS_MAX, Math.max(PAUSE_MS_MIN, pauseMs * 2))
}
