import { RetryableError, type StageName } from '@heddle/contracts'
import { lowerProcessPriority } from '@heddle/runtime'
import type { Engine } from '../engine.js'
import type { HealthServer } from '../health/health-server.js'
import { openServiceLog } from './service-log.js'
import { type Surroundings, untilAskedToStop } from './surroundings.js'

export interface StagesService {
  readonly command: string
  readonly stages: readonly StageName[]
  /** Jobs that a stage runs at once. Default: depends on the stage. */
  readonly concurrency?: number | undefined
  /** Port of `/healthz`, `/readyz` and `/metrics`; null for none. */
  readonly healthPort: number | null
  /** Called once the stages run. */
  ready?(engine: Engine, healthPort: number | null): void
}

/** Runs stages until the process is asked to stop. While it waits for a server, `/healthz` says that it is not ready. */
export async function runStages(surroundings: Surroundings, service: StagesService): Promise<void> {
  const { context, config, log } = surroundings
  const { command, stages, concurrency } = service
  let engine: Engine | null = null
  const monitoring =
    service.healthPort === null ? null : await monitor(config.healthHost, service.healthPort, stages, () => engine)
  const facts = { command, workers: stages, ...(monitoring !== null && { healthPort: monitoring.server.port }) }
  const serviceLog = openServiceLog(surroundings, facts)
  try {
    const { openEngine } = await import('../engine.js')
    engine = await openEngine({
      context,
      config,
      log,
      needs: {
        stages,
        workers: 'always',
        reconcile: true,
        threads: true,
        ...(monitoring !== null && {
          onSettled: (settled) => monitoring.metrics.settled(settled),
          onPruned: (counts) => monitoring.metrics.pruned(counts),
        }),
        ...(concurrency !== undefined && { concurrency }),
      },
    })
    // Only once it is ready: at a low priority, startup on a busy machine might never finish.
    const { niceness } = config.workers
    if (!lowerProcessPriority(niceness)) log.warn({ niceness }, 'lowering the process priority failed')
    serviceLog.ready(facts)
    service.ready?.(engine, monitoring?.server.port ?? null)
    await untilAskedToStop(context)
  } finally {
    serviceLog.stopping()
    await engine?.close()
    await monitoring?.server.close()
    serviceLog.stopped()
  }
}

interface Monitoring {
  readonly server: HealthServer
  readonly metrics: InstanceType<typeof import('@heddle/gateway').ProcessMetrics>
}

/** Loads lazily: metrics include an HTTP server, which a worker without a port does not need. */
async function monitor(
  host: string,
  port: number,
  stages: readonly StageName[],
  engineOf: () => Engine | null,
): Promise<Monitoring> {
  const { ProcessMetrics } = await import('@heddle/gateway')
  const { startHealthServer } = await import('../health/health-server.js')
  const metrics = new ProcessMetrics()
  const server = await startHealthServer({
    host,
    port,
    identity: { pid: process.pid, workers: stages },
    async checkReady() {
      const engine = engineOf()
      if (engine === null) throw new RetryableError('SERVICE_UNAVAILABLE', 'the stages are still starting')
      await engine.checkReady()
    },
    readMetrics: async () => ({
      type: metrics.contentType,
      text: await metrics.read(engineOf()?.queues.modelCalls ?? new Map()),
    }),
  })
  return { server, metrics }
}
