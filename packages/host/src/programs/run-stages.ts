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
  const isWatched = service.healthPort !== null || config.telemetry.url !== null
  const metrics = isWatched ? await openMetrics() : null
  const readMetrics = async () => (await metrics?.read(engine?.queues.modelCalls ?? new Map())) ?? ''
  const health =
    service.healthPort === null || metrics === null
      ? null
      : await serveHealth(
          { host: config.healthHost, port: service.healthPort, stages },
          () => engine,
          async () => ({ type: metrics.contentType, text: await readMetrics() }),
        )
  const facts = { command, workers: stages, ...(health !== null && { healthPort: health.port }) }
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
        ...(metrics !== null && {
          onSettled: (settled) => metrics.settled(settled),
          onPruned: (counts) => metrics.pruned(counts),
        }),
        ...(concurrency !== undefined && { concurrency }),
      },
    })
    engine.telemetry.exportMetrics(readMetrics)
    // Only once it is ready: at a low priority, startup on a busy machine might never finish.
    const { niceness } = config.workers
    if (!lowerProcessPriority(niceness)) log.warn({ niceness }, 'lowering the process priority failed')
    serviceLog.ready(facts)
    service.ready?.(engine, health?.port ?? null)
    await untilAskedToStop(context)
  } finally {
    serviceLog.stopping()
    await engine?.close()
    await health?.close()
    serviceLog.stopped()
  }
}

/** Loads lazily: metrics include an HTTP server, which a worker that nobody watches does not need. */
async function openMetrics(): Promise<InstanceType<typeof import('@heddle/gateway').ProcessMetrics>> {
  const { ProcessMetrics } = await import('@heddle/gateway')
  return new ProcessMetrics()
}

async function serveHealth(
  { host, port, stages }: { readonly host: string; readonly port: number; readonly stages: readonly StageName[] },
  engineOf: () => Engine | null,
  readMetrics: () => Promise<{ type: string; text: string }>,
): Promise<HealthServer> {
  const { startHealthServer } = await import('../health/health-server.js')
  return await startHealthServer({
    host,
    port,
    identity: { pid: process.pid, workers: stages },
    async checkReady() {
      const engine = engineOf()
      if (engine === null) throw new RetryableError('SERVICE_UNAVAILABLE', 'the stages are still starting')
      await engine.checkReady()
    },
    readMetrics,
  })
}
