import { RetryableError, type StageName } from '@heddle/contracts'
import { ProcessMetrics } from '@heddle/gateway'
import { lowerProcessPriority } from '@heddle/runtime'
import { type Engine, openEngine } from '../engine.js'
import { startHealthServer } from '../health/health-server.js'
import { requireServer } from '../presence/index.js'
import { type Surroundings, untilAskedToStop } from './surroundings.js'

/**
 * Runs stages until it is asked to stop. Where it is to tell how it stands it does so from the start: while it waits for a
 * server, it lives and is not ready.
 */
export async function runStages({ context, config, log }: Surroundings, stages: readonly StageName[]): Promise<void> {
  await requireServer(config)
  const startedMs = performance.now()
  const metrics = new ProcessMetrics()
  let engine: Engine | null = null
  const health =
    config.healthPort === null
      ? null
      : await startHealthServer({
          port: config.healthPort,
          identity: { pid: process.pid, workers: stages },
          async checkReady() {
            if (engine === null) throw new RetryableError('SERVICE_UNAVAILABLE', 'the stages are still starting')
            await engine.checkReady()
          },
          readMetrics: async () => ({
            type: metrics.contentType,
            text: await metrics.read(engine?.queues.modelCalls ?? new Map()),
          }),
        })
  const facts = { workers: stages, ...(health !== null && { healthPort: health.port }) }
  log.info({ ...facts, mode: config.mode, queuePrefix: config.queuePrefix }, 'starting')
  try {
    engine = await openEngine({
      context,
      config,
      log,
      needs: {
        stages,
        workers: 'always',
        reconcile: true,
        threads: true,
        onSettled: (settled) => metrics.settled(settled),
      },
    })
    // Not before it is open: a machine that is busy could keep it from ever beginning.
    const { niceness } = config.workers
    if (!lowerProcessPriority(niceness)) log.warn({ niceness }, 'the system did not lower the priority of this process')
    log.info({ ...facts, tookMs: Math.round(performance.now() - startedMs) }, 'ready')
    await untilAskedToStop(context)
  } finally {
    await engine?.close()
    await health?.close()
    log.info({ ranMs: Math.round(performance.now() - startedMs) }, 'stopped')
  }
}
