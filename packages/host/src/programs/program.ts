import type { StageName } from '@heddle/contracts'
import { createLogger, limitHeapGrowth, loadConfig, onShutdown, ownOutput } from '@heddle/runtime'
import { loadConfiguredModules } from '../configured-modules.js'
import { requireServer } from '../presence/index.js'
import type { Surroundings } from './surroundings.js'

/** Time limit of a graceful stop; other workers process the jobs that it interrupts. */
const CLOSE_MS_MAX = 20_000

/** The program of a worker: runs some stages until the process is asked to stop. */
export function serveStages(stages: readonly StageName[]): Promise<void> {
  return run(async (surroundings) => {
    const { runStages } = await import('./run-stages.js')
    const { healthPort } = surroundings.config
    await runStages(surroundings, { command: 'stages', stages, healthPort })
  })
}

/** The program of the gateway: serves HTTP until it is asked to stop, and runs no stage. */
export function serveGateway(): Promise<void> {
  return run(async (surroundings) => {
    const { runGateway } = await import('./run-gateway.js')
    await runGateway(surroundings, { command: 'gateway', stages: [] })
  })
}

/** The program of the proxy alone: relays requests to providers until it is asked to stop. */
export function serveProxy(): Promise<void> {
  return run(async (surroundings) => {
    const { runProxy } = await import('./run-proxy.js')
    await runProxy(surroundings)
  })
}

/**
 * Runs a program that is configured by the environment alone. It handles signals from the beginning: as process 1 of a
 * container it would otherwise never receive a SIGTERM. Modules that load slowly are therefore imported by the program.
 */
async function run(program: (surroundings: Surroundings) => Promise<void>): Promise<void> {
  const log = createLogger({ level: 'info', name: 'heddle' })
  const stopping = new AbortController()
  let ended: Promise<void> = Promise.resolve()
  onShutdown(
    (reason) => {
      stopping.abort(Object.assign(new Error(`stopped by ${reason}`), { signalName: reason }))
      return ended
    },
    { timeoutMs: CLOSE_MS_MAX, log },
  )
  ended = (async () => {
    const place = { env: process.env, cwd: process.cwd() }
    await loadConfiguredModules(place)
    const config = loadConfig(place)
    log.level = config.logLevel
    ownOutput(log)
    limitHeapGrowth()
    const printer = { note: (text: string) => log.info(text) }
    await requireServer(config)
    const context = { ...place, signal: stopping.signal, printer, mayMakeData: () => false }
    try {
      await program({ context, config, log })
    } catch (error) {
      // A requested stop is a success, and failures after it, such as a server that stops, too, are expected.
      if (!stopping.signal.aborted) throw error
    }
  })()
  await ended
}
