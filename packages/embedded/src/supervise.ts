import { errorData } from '@heddle/contracts'
import { type Logger, systemClock } from '@heddle/runtime'
import type { Server } from './server.js'

/**
 * What makes a server die again and again, such as a full disk, is mended by a person at some time: the tries become fewer and
 * never end.
 */
const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 5_000
/** A server that lived for so long has none of the reasons of those before it. */
const STEADY_MS = 60_000

interface SuperviseOptions {
  server: Server
  launch: () => Promise<Server>
  /** Tells others of the server's pid, null when there is none. */
  announce: (pid: number | null) => Promise<void>
  log: Logger
}

/** Starts the server again whenever it ends without having been told to: killed for lack of memory, or by hand. */
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
      log.warn({ serverPid: current.pid }, 'embedded Postgres has died and is started again')
      if (!(await restart(pauseMs))) return
      pauseMs = longer(pauseMs)
    }
  }

  /** Tries until it runs; a reason that stays is logged once. False where it is to stop. */
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
        if (detail !== reason) log.error({ error }, 'embedded Postgres could not be started again; tries go on')
        reason = detail
      }
    }
  }

  async function stop(): Promise<void> {
    stopping.abort()
    await current.stop()
    await watching
    // The next start chooses a port of its own where this cannot be written, as on a full disk.
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
