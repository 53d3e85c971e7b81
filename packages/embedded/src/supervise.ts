import { type Logger, systemClock } from '@heddle/runtime'
import type { Server } from './server.js'

/** A server that keeps dying has a reason that starting it again does not remove. */
const RESTARTS_MAX = 10
const RESTARTS_WINDOW_MS = 60_000
/** The first tries may come while leftover processes of the dead server still hold its memory. */
const RETRY_DELAY_MS = 250

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
    let restarts: number[] = []
    for (;;) {
      await current.ended
      if (stopping.signal.aborted) return
      restarts = restarts.filter((atMs) => atMs > systemClock.nowMs() - RESTARTS_WINDOW_MS)
      if (restarts.length >= RESTARTS_MAX) {
        return log.error({ restarts: restarts.length }, 'embedded Postgres keeps dying and is not started again')
      }
      restarts.push(systemClock.nowMs())
      log.warn({ serverPid: current.pid }, 'embedded Postgres has died and is started again')
      await restart()
    }
  }

  async function restart(): Promise<void> {
    try {
      current = await launch()
      if (stopping.signal.aborted) return await current.stop()
      await announce(current.pid)
    } catch (error) {
      log.error({ error }, 'embedded Postgres could not be started again')
      await systemClock.wait(RETRY_DELAY_MS, stopping.signal).catch(() => {})
    }
  }

  async function stop(): Promise<void> {
    stopping.abort()
    await current.stop()
    await watching
    await announce(null)
  }

  let stopped: Promise<void> | undefined
  return {
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}
