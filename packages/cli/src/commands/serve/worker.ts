import { type StageName, stageNames } from '@heddle/contracts'
import type { Engine } from '@heddle/host'
import { requireServer } from '@heddle/host/presence'
import { withoutCredentials } from '@heddle/runtime'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../../connect/context.js'
import { refuseRemote } from '../../connect/gateway-address.js'
import { serve } from '../../connect/serve.js'
import { type IterationOptions, iterationSettings, withIterationOptions } from '../../options/iteration-options.js'
import { oneOf } from '../../options/option-values.js'
import { concurrencyOption, portOption, withCommonOptions } from '../../options/options.js'

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
      'also serve /healthz, /readyz and /metrics on this port of 127.0.0.1, or of HEDDLE_HEALTH_HOST; 0 picks a free one (HEDDLE_HEALTH_PORT)',
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
  const { runStages } = await import('@heddle/host/serving')
  await serve(context, config, (surroundings) =>
    runStages(surroundings, {
      command: 'worker',
      stages,
      concurrency: options.concurrency,
      healthPort: options.port ?? config.healthPort,
      ready: (engine, port) => tellReady(context, engine, stages, port),
    }),
  )
}

function tellReady(
  context: CommandContext,
  { config, server }: Engine,
  stages: readonly StageName[],
  port: number | null,
): void {
  const document = {
    status: 'ready',
    pid: process.pid,
    ...(port !== null && { port }),
    workers: stages,
    database: withoutCredentials(server.url),
    queues: config.redisUrl === null ? 'postgres' : withoutCredentials(config.redisUrl),
  }
  context.printer.result(document, () => [
    `${stages.join(', ')}: working (process ${process.pid}) on ${document.database}; Ctrl-C stops`,
  ])
}
