import { ConflictError, HeddleError, RetryableError, stageNames } from '@heddle/contracts'
import { type Config, withoutCredentials } from '@heddle/runtime'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf, loggerOf } from '../context.js'
import type { Engine } from '../engine.js'
import { startHealthServer } from '../health-server.js'
import { portOption, withCommonOptions } from '../options.js'
import { InterruptedError } from '../output/failure.js'
import { safeText } from '../output/safe-text.js'
import { announceUp, type RunningUp, withdrawUp } from '../presence.js'
import { untilAborted } from '../with-engine.js'

interface UpOptions extends CommonOptions {
  readonly port?: number
}

export function registerUp(program: Command, context: CommandContext): void {
  const up = program
    .command('up')
    .description('run everything in this process: server, workers, and the reconciler that finds forgotten work')
    .option('--port <port>', 'port of /healthz and /readyz on 127.0.0.1 (default 4680, or HEDDLE_PORT)', portOption)
  withCommonOptions(up, [
    'heddle up',
    'heddle up --data ~/.heddle --port 4700',
    'DATABASE_URL=postgres://... REDIS_URL=redis://... heddle up',
  ])
    .addHelpText(
      'after',
      '\nA second "heddle up" on the same folder says that the first one runs, with its process id, and ends with 0;\nit waits up to 20 s for a first one that is still starting.\nMore workers for it: heddle worker all.',
    )
    .action((options: UpOptions) => runEverything(context, options))
}

async function runEverything(context: CommandContext, options: UpOptions): Promise<void> {
  const config = configOf(context, options, { ...(options.port !== undefined && { port: options.port }) })
  if (config.mode !== 'embedded') return await serve(context, config)
  const { untilUp, WORD_MS_MAX } = await import('../up-elsewhere.js')
  const running = await untilUp(context, config.dataDir)
  if (running !== null) return tellRunning(context, config, running)
  try {
    await serve(context, config)
  } catch (error) {
    // Another one may have begun at the same moment, and have the port or the folder.
    if (!(error instanceof HeddleError) || error.code !== 'CONFLICT') throw error
    const other = await untilUp(context, config.dataDir, WORD_MS_MAX)
    if (other === null) throw error
    tellRunning(context, config, other)
  }
}

async function serve(context: CommandContext, config: Config): Promise<void> {
  let engine: Engine | null = null
  const health = await startHealthServer({
    port: config.port,
    identity: { pid: process.pid, dataDir: config.dataDir },
    async checkReady() {
      if (engine === null) throw new RetryableError('SERVICE_UNAVAILABLE', 'Heddle is still starting')
      await engine.checkReady()
    },
  })
  try {
    if (config.mode === 'embedded') await announce(config.dataDir, health.port)
    const { openEngine } = await import('../engine.js')
    context.printer.note('starting ...')
    engine = await openEngine({
      context,
      config,
      log: loggerOf(context, config, 'service'),
      needs: { stages: stageNames, workers: 'always', reconcile: true, lasting: true, migrate: true },
    })
    tellReady(context, config, engine, health.port)
    await untilAborted(context.signal)
  } catch (error) {
    // Being asked to stop is how this command ends well.
    if (!(error instanceof InterruptedError)) throw error
  } finally {
    await engine?.close()
    if (config.mode === 'embedded') await withdrawUp(config.dataDir, process.pid)
    await health.close()
  }
}

/** Before the server starts, which takes seconds: whoever comes meanwhile is to find this process. */
async function announce(dataDir: string, port: number): Promise<void> {
  if (await announceUp(dataDir, { pid: process.pid, port, startedAt: new Date().toISOString() })) return
  throw new ConflictError('another "heddle up" has begun in this folder', { field: 'data', received: dataDir })
}

function tellRunning(context: CommandContext, config: Config, running: RunningUp): void {
  const address = `http://127.0.0.1:${running.port}`
  context.printer.result({ status: 'already-running', dataDir: config.dataDir, ...running }, () => [
    `Heddle already runs for ${safeText(config.dataDir)}: process ${running.pid}, ${address}`,
    'This one does nothing and ends. For more workers run: heddle worker all',
  ])
}

function tellReady(context: CommandContext, config: Config, engine: Engine, port: number): void {
  const database = withoutCredentials(engine.server.url)
  const queues = config.redisUrl === null ? 'postgres' : withoutCredentials(config.redisUrl)
  const health = `http://127.0.0.1:${port}`
  const { summarizer, embedder } = engine.models
  const document = {
    status: 'ready',
    pid: process.pid,
    mode: config.mode,
    project: config.project,
    ...(config.mode === 'embedded' && { dataDir: config.dataDir }),
    database,
    queues,
    workers: engine.workersHere,
    summarizer,
    embedder,
    port,
    health: `${health}/healthz`,
  }
  const { colors } = context.printer
  context.printer.result(document, () => [
    `${colors.bold('Heddle is up')} (process ${process.pid})`,
    `  project    ${safeText(config.project)}`,
    `  database   ${config.mode === 'embedded' ? `embedded Postgres in ${safeText(config.dataDir)}, ` : ''}${database}`,
    `  queues     ${config.redisUrl === null ? 'in the same Postgres' : queues}`,
    `  workers    ${engine.workersHere.join(', ')}, and the reconciler`,
    `  summaries  ${summarizer ?? 'none'}`,
    `  vectors    ${embedder ?? 'none'}`,
    `  health     ${health}/healthz, ${health}/readyz`,
    colors.green('ready; Ctrl-C stops everything'),
  ])
}
