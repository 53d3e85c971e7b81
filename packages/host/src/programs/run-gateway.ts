import type { Finding, StageName } from '@heddle/contracts'
import type { Gateway, GatewayBackend } from '@heddle/gateway'
import { limitHeapGrowth } from '@heddle/runtime'
import type { Engine, EngineNeeds } from '../engine.js'
import { openServiceLog } from './service-log.js'
import { type Surroundings, untilAskedToStop } from './surroundings.js'

export interface ServedGateway extends Pick<Gateway, 'url' | 'port'> {
  /** Whether other machines can send requests. */
  readonly isOpenToOthers: boolean
}

export interface GatewayService {
  readonly command: string
  /** The stages that run in this process beside the gateway. */
  readonly stages: readonly StageName[]
  readonly needs?: Pick<EngineNeeds, 'lasting' | 'threads' | 'migrate'>
  /** Checks everything that Heddle needs, as `heddle doctor` does. */
  examine?(): Promise<readonly Finding[]>
  /** Called once the port is bound, before the engine opens, which may take seconds. */
  listening?(port: number): Promise<void>
  /** Called once requests are served. @returns reports this to the user, once the log says it */
  ready?(engine: Engine, gateway: ServedGateway): Promise<() => void>
  /** Called once the engine has closed, while `/healthz` is still answered. */
  closed?(): Promise<void>
}

/**
 * Serves HTTP until the process is asked to stop: with stages beside it, or alone. Requests that need a server are refused
 * until the servers are open.
 */
export async function runGateway(surroundings: Surroundings, service: GatewayService): Promise<void> {
  const { context, config, log } = surroundings
  const { command, stages } = service
  if (stages.length === 0) limitHeapGrowth('relays')
  const serviceLog = openServiceLog(surroundings, { command, workers: stages })
  const { gatewayBackendOf, warnWithoutKey } = await import('../gateway-backend.js')
  const { isOpenToOthers, startGateway } = await import('@heddle/gateway')
  const { openProxy } = await import('./open-proxy.js')
  let engine: Engine | null = null
  let backend: GatewayBackend | null = null
  const proxy = openProxy(config, { log, backend: () => backend, store: () => engine?.store ?? null })
  const gateway = await startGateway({
    host: config.host,
    hosts: config.hosts,
    port: config.port,
    project: config.project,
    identity: { pid: process.pid, dataDir: config.dataDir },
    mount: proxy,
    log,
    backend: () => backend,
  })
  const { url, port } = gateway
  const served = { url, port, isOpenToOthers: isOpenToOthers(config) }
  try {
    await service.listening?.(port)
    const { openEngine } = await import('../engine.js')
    engine = await openEngine({
      context,
      config,
      log,
      needs: {
        ...service.needs,
        stages,
        workers: 'always',
        reconcile: stages.length > 0,
        onSettled: gateway.recordTry,
        onPruned: gateway.recordPruned,
      },
    })
    backend = gatewayBackendOf(engine, service.examine)
    engine.telemetry.exportMetrics(() => gateway.readMetrics())
    // A gateway without stages is one of several: it starts all the same.
    if (stages.length === 0 && served.isOpenToOthers) await warnWithoutKey(engine)
    const reportReady = await service.ready?.(engine, served)
    serviceLog.ready({ port, host: config.host })
    reportReady?.()
    await untilAskedToStop(context)
  } finally {
    serviceLog.stopping()
    // Running requests need the engine; until it is closed, /healthz shows that this process is alive.
    await gateway.drain()
    await proxy.close()
    await engine?.close()
    await service.closed?.()
    await gateway.close()
    serviceLog.stopped()
  }
}
