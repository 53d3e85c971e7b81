import { RetryableError, type StageName } from '@heddle/contracts'
import { startGateway } from '@heddle/gateway'
import {
  type Config,
  createLogger,
  type Logger,
  loadConfig,
  onShutdown,
  ownOutput,
  systemClock,
  workInBackground,
} from '@heddle/runtime'
import { loadConfiguredModules } from './configured-modules.js'
import type { HostContext } from './context.js'
import { type Engine, type EngineNeeds, openEngine } from './engine.js'
import { gatewayBackendOf } from './gateway-backend.js'
import { findUp } from './presence/presence.js'

/** How long a process that was asked to stop may take; jobs that are cut off are taken up by others. */
const CLOSE_MS_MAX = 20_000

/** The program of a worker: runs some stages in this process until it is asked to stop. */
export async function serveStages(stages: readonly StageName[]): Promise<void> {
  const { context, config, log } = await begin()
  await refuseAlone(config)
  const engine = await open({ context, config, log, stages })
  closeOnShutdown(log, () => engine.close())
  const { niceness } = config.workers
  if (!workInBackground(niceness)) log.warn({ niceness }, 'the system did not lower the priority of this process')
  log.info({ workers: stages }, 'ready')
}

/** The program of the gateway: serves HTTP until it is asked to stop, and runs no stage. */
export async function serveGateway(): Promise<void> {
  const { context, config, log } = await begin()
  await refuseAlone(config)
  const engine = await open({ context, config, log, stages: [] })
  const backend = gatewayBackendOf(engine)
  const { host, hosts, port, project } = config
  try {
    const identity = { pid: process.pid }
    const gateway = await startGateway({ host, hosts, port, project, identity, log, backend: () => backend })
    closeOnShutdown(log, async () => {
      await gateway.drain()
      await engine.close()
      await gateway.close()
    })
    log.info({ port: gateway.port, host }, 'ready')
  } catch (error) {
    await engine.close()
    throw error
  }
}

interface Service {
  readonly context: HostContext
  readonly config: Config
  readonly log: Logger
}

/** Configuration and log, from the environment alone. */
async function begin(): Promise<Service> {
  const place = { env: process.env, cwd: process.cwd() }
  await loadConfiguredModules(place)
  const config = loadConfig(place)
  const log = createLogger({ level: config.logLevel, name: 'heddle' })
  ownOutput(log)
  const printer = { note: (text: string) => log.info(text) }
  const { signal } = new AbortController()
  return { context: { ...place, signal, printer, mayMakeData: () => false }, config, log }
}

/** Without servers of its own a service joins a running `heddle up`. */
async function refuseAlone({ mode, dataDir }: Config): Promise<void> {
  if (mode !== 'embedded' || (await findUp(dataDir)) !== null) return
  throw new RetryableError('SERVICE_UNAVAILABLE', `no "heddle up" runs for ${dataDir}, and DATABASE_URL is not set`, {
    field: 'DATABASE_URL',
    hint: 'Set DATABASE_URL, or start "heddle up" there first.',
  })
}

function open({ context, config, log, stages }: Service & Pick<EngineNeeds, 'stages'>): Promise<Engine> {
  const isWorker = stages.length > 0
  return openEngine({
    context,
    config,
    log,
    needs: { stages, workers: 'always', reconcile: isWorker, threads: isWorker },
  })
}

function closeOnShutdown(log: Logger, close: () => Promise<void>): void {
  const startedMs = systemClock.nowMs()
  onShutdown(
    async () => {
      await close()
      log.info({ ranMs: systemClock.nowMs() - startedMs }, 'stopped')
    },
    { timeoutMs: CLOSE_MS_MAX, log },
  )
}
