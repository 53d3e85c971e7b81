import { isOpenToOthers, startGateway } from '@heddle/gateway'
import { type Engine, openEngine } from '../engine.js'
import { gatewayBackendOf, warnWithoutKey } from '../gateway-backend.js'
import { requireServer } from '../presence/index.js'
import { type Surroundings, untilAskedToStop } from './surroundings.js'

/** Serves HTTP until it is asked to stop; what needs a server is refused until the servers are open. */
export async function runGateway({ context, config, log }: Surroundings): Promise<void> {
  await requireServer(config)
  const startedMs = performance.now()
  const { host, hosts, port, project } = config
  let backend: ReturnType<typeof gatewayBackendOf> | null = null
  let engine: Engine | null = null
  const identity = { pid: process.pid }
  const gateway = await startGateway({ host, hosts, port, project, identity, log, backend: () => backend })
  log.info({ port: gateway.port, host, mode: config.mode, queuePrefix: config.queuePrefix }, 'starting')
  try {
    engine = await openEngine({
      context,
      config,
      log,
      needs: { stages: [], workers: 'always', reconcile: false },
    })
    backend = gatewayBackendOf(engine)
    if (isOpenToOthers(config)) await warnWithoutKey(engine)
    log.info({ port: gateway.port, host, tookMs: Math.round(performance.now() - startedMs) }, 'ready')
    await untilAskedToStop(context)
  } finally {
    // Answers under way need the engine; and until that is closed, others are to see that this process lives.
    await gateway.drain()
    await engine?.close()
    await gateway.close()
    log.info({ ranMs: Math.round(performance.now() - startedMs) }, 'stopped')
  }
}
