import { type StageName, stageNames } from '@heddle/contracts'
import { type HealthServer, startHealthServer } from '@heddle/host/health'
import { requireServer } from '@heddle/host/presence'
import { limitHeapGrowth, lowerProcessPriority, withoutCredentials } from '@heddle/runtime'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../../connect/context.js'
import { refuseRemote } from '../../connect/gateway-address.js'
import { openServiceLog } from '../../connect/service-log.js'
import { untilAborted } from '../../connect/with-engine.js'
import { type IterationOptions, iterationSettings, withIterationOptions } from '../../options/iteration-options.js'
import { oneOf } from '../../options/option-values.js'
import { concurrencyOption, portOption, withCommonOptions } from '../../options/options.js'
import { InterruptedError } from '../../output/failure.js'

interface WorkerOptions extends CommonOptions, IterationOptions {
  readonly concurrency?: number
  readonly port?: number
}

export function registerWorker(program: Command, context: CommandContext): void {
  const worker = program
    .command('worker')
    .description('run the workers of one stage, or of all stages, in this process')
    .argument('<stage>', `${stageNames.join(', ')} or all`, oneOf('stage', [...stageNames, 'all']))
    .option('--concurrency <jobs>', 'jobs that a stage runs at once (default: depends on the stage)', concurrencyOption)
    .option(
      '--port <port>',
      'also serve /healthz, /readyz and /metrics on this port of 127.0.0.1; 0 picks a free one (HEDDLE_HEALTH_PORT)',
      portOption,
    )
  withCommonOptions(withIterationOptions(worker), [
    'heddle worker all',
    'DATABASE_URL=postgres://... REDIS_URL=redis://... heddle worker ingest --concurrency 64',
  ])
    .addHelpText(
      'after',
      '\nWithout DATABASE_URL it joins the server of a running "heddle up" on the same folder.\nOn SIGTERM, running jobs get some seconds to finish; another worker takes over those that are cut off.',
    )
    .action((stage: StageName | 'all', options: WorkerOptions) => runWorkers(context, stage, options))
}

async function runWorkers(context: CommandContext, stage: StageName | 'all', options: WorkerOptions): Promise<void> {
  refuseRemote(context, {}, 'running workers')
  const iterations = iterationSettings(options)
  const config = configOf(context, options, { ...(iterations !== null && { settings: { iterations } }) })
  await requireServer(config)
  const stages = stage === 'all' ? stageNames : [stage]
  limitHeapGrowth()
  const service = openServiceLog(context, config, { command: 'worker', workers: stages })
  const { log } = service
  const { openEngine } = await import('@heddle/host')
  // Loaded lazily: it includes an HTTP server, which a worker without a port does not need.
  const port = options.port ?? config.healthPort
  const metrics = port === null ? null : new (await import('@heddle/gateway')).ProcessMetrics()
  const engine = await openEngine({
    context,
    config,
    log,
    needs: {
      stages,
      workers: 'always',
      reconcile: true,
      ...(metrics !== null && { onSettled: (settled) => metrics.settled(settled) }),
      threads: true,
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    },
  })
  let health: HealthServer | null = null
  try {
    if (port !== null && metrics !== null) {
      const identity = { pid: process.pid, workers: stages }
      health = await startHealthServer({
        port,
        identity,
        checkReady: engine.checkReady,
        readMetrics: async () => ({ type: metrics.contentType, text: await metrics.read(engine.queues.modelCalls) }),
      })
    }
    const document = {
      status: 'ready',
      pid: process.pid,
      ...(health !== null && { port: health.port }),
      workers: stages,
      database: withoutCredentials(engine.server.url),
      queues: config.redisUrl === null ? 'postgres' : withoutCredentials(config.redisUrl),
    }
    // Only once it is ready: at a low priority, startup on a busy machine might never finish.
    const { niceness } = config.workers
    if (!lowerProcessPriority(niceness)) log.warn({ niceness }, 'lowering the process priority failed')
    service.ready({ ...(health !== null && { port: health.port }) })
    context.printer.result(document, () => [
      `${stages.join(', ')}: working (process ${process.pid}) on ${document.database}; Ctrl-C stops`,
    ])
    await untilAborted(context.signal)
  } catch (error) {
    // A stop signal is the normal end of this command.
    if (!(error instanceof InterruptedError)) throw error
  } finally {
    service.stopping()
    await engine.close()
    await health?.close()
    service.stopped()
  }
}
