import type { GatewayBackend } from '@heddle/gateway'
import { limitHeapGrowth, systemClock } from '@heddle/runtime'
import type { Engine } from '../engine.js'
import type { ServedGateway } from './run-gateway.js'
import { openServiceLog } from './service-log.js'
import { type Surroundings, untilAskedToStop } from './surroundings.js'

export interface ProxyService {
  /** Called once requests are relayed, which needs no other server. */
  ready?(proxy: ServedGateway): void
}

/** Time between attempts to reach the servers. */
const RETRY_MS = 2_000

/**
 * Serves the proxy without the rest of the gateway until the process is asked to stop. Requests are relayed from the
 * beginning, and stored once the servers are reached: a store that is away must not stop an agent.
 */
export async function runProxy(surroundings: Surroundings, service: ProxyService = {}): Promise<void> {
  const { context, config, log } = surroundings
  limitHeapGrowth('relays')
  const serviceLog = openServiceLog(surroundings, { command: 'proxy', workers: [] })
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
    identity: { pid: process.pid },
    mount: proxy,
    isMountOnly: true,
    log,
    backend: () => backend,
  })
  const { url, port } = gateway
  try {
    serviceLog.ready({ port, host: config.host })
    service.ready?.({ url, port, isOpenToOthers: isOpenToOthers(config) })
    const { gatewayBackendOf } = await import('../gateway-backend.js')
    engine = await openWhenReachable(surroundings)
    backend = gatewayBackendOf(engine)
    engine.telemetry.exportMetrics(() => gateway.readMetrics())
    log.info({ mode: config.mode }, 'the store is reached')
    await untilAskedToStop(context)
  } finally {
    serviceLog.stopping()
    await gateway.drain()
    await proxy.close()
    await engine?.close()
    await gateway.close()
    serviceLog.stopped()
  }
}

async function openWhenReachable({ context, config, log }: Surroundings): Promise<Engine> {
  const { openEngine } = await import('../engine.js')
  for (;;) {
    context.signal.throwIfAborted()
    try {
      return await openEngine({ context, config, log, needs: { stages: [], workers: 'always' } })
    } catch (error) {
      context.signal.throwIfAborted()
      log.warn({ error, retryMs: RETRY_MS }, 'the store is not reached: requests are relayed and not stored')
    }
    await systemClock.wait(RETRY_MS, context.signal)
  }
}
