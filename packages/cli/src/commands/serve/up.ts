import { ConflictError, HeddleError, PermanentError, stageNames } from '@heddle/contracts'
import type { Engine } from '@heddle/host'
import { announceUp, type RunningUp, withdrawUp } from '@heddle/host/presence'
import type { GatewayService, ServedGateway } from '@heddle/host/serving'
import { type Config, withoutCredentials } from '@heddle/runtime'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../../connect/context.js'
import { serve } from '../../connect/serve.js'
import { type AddressOptions, addressOf, withAddressOptions } from '../../options/address-options.js'
import { type IterationOptions, iterationSettings, withIterationOptions } from '../../options/iteration-options.js'
import { withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'

type UpOptions = CommonOptions & IterationOptions & AddressOptions

export function registerUp(program: Command, context: CommandContext): void {
  const up = program
    .command('up')
    .description(
      'run everything in this process: database server, workers, gateway, and the reconciler that finds missed work',
    )
  withCommonOptions(withIterationOptions(withAddressOptions(up)), [
    'heddle up',
    'heddle up --data ~/.heddle --port 4700',
    'DATABASE_URL=postgres://... REDIS_URL=redis://... heddle up',
  ])
    .addHelpText(
      'after',
      '\nA second "heddle up" on the same folder reports the process id of the first one and exits with 0; it waits\nup to 20 s for one that is still starting. To add workers: heddle worker all.',
    )
    .action((options: UpOptions) => runEverything(context, options))
}

async function runEverything(context: CommandContext, options: UpOptions): Promise<void> {
  const iterations = iterationSettings(options)
  const config = configOf(context, options, {
    ...addressOf(options),
    ...(iterations !== null && { settings: { iterations } }),
  })
  if (config.mode !== 'embedded') return await serveAll(context, config, options)
  const { FOLDER_GRACE_MS, PORT_GRACE_MS, untilUp } = await import('@heddle/host/presence')
  const running = await untilUp(context, config.dataDir)
  if (running !== null) return tellRunning(context, config, running)
  try {
    await serveAll(context, config, options)
  } catch (error) {
    // Another `heddle up` may have started at the same moment and hold the port or the folder.
    if (!(error instanceof HeddleError) || error.code !== 'CONFLICT') throw error
    const graceMs = error.field === 'data' ? FOLDER_GRACE_MS : PORT_GRACE_MS
    const other = await untilUp(context, config.dataDir, graceMs)
    if (other === null) throw error
    tellRunning(context, config, other)
  }
}

async function serveAll(context: CommandContext, config: Config, options: UpOptions): Promise<void> {
  const isEmbedded = config.mode === 'embedded'
  const { runGateway } = await import('@heddle/host/serving')
  const service: GatewayService = {
    command: 'up',
    stages: stageNames,
    examine: async () => (await import('../../doctor/examine.js')).examine(context, options),
    needs: { lasting: true, threads: true, migrate: true },
    listening: async (port) => {
      if (isEmbedded) await announce(config.dataDir, port)
      context.printer.note('starting ...')
    },
    async ready(engine, gateway) {
      if (gateway.isOpenToOthers) await checkKeys(engine)
      const { outsideWindowLines, outsideWindowsOf } = await import('../../connect/outside-windows.js')
      const outside = await outsideWindowsOf(engine)
      return () =>
        tellReady(context, config, engine, gateway, { outsideWindow: outside, lines: outsideWindowLines(outside) })
    },
    closed: async () => {
      if (isEmbedded) await withdrawUp(config.dataDir, process.pid)
    },
  }
  await serve(context, config, (surroundings) => runGateway(surroundings, service))
}

/** Requests from other machines need an API key; without one, every request would be refused. */
async function checkKeys({ store, projectId, config }: Engine): Promise<void> {
  const { hasKeys } = await import('@heddle/engine')
  if (await hasKeys(store, projectId)) return
  throw new PermanentError(
    'FORBIDDEN',
    `project "${config.project}" has no key, but other machines could reach this address`,
    {
      field: 'host',
      received: config.hosts[0] ?? config.host,
      hint: 'Create a key first: heddle keys create --name admin --role admin; or listen on 127.0.0.1 only.',
    },
  )
}

/** Announced before the server starts, which takes seconds, so that a second `heddle up` finds this process. */
async function announce(dataDir: string, port: number): Promise<void> {
  if (await announceUp(dataDir, { pid: process.pid, port, startedAt: new Date().toISOString() })) return
  throw new ConflictError('another "heddle up" is starting in this folder', {
    field: 'data',
    received: dataDir,
    hint: 'Run this again once it is ready, or choose another folder with --data.',
  })
}

function tellRunning(context: CommandContext, config: Config, running: RunningUp): void {
  const address = `http://127.0.0.1:${running.port}`
  context.printer.result({ status: 'already-running', dataDir: config.dataDir, ...running }, () => [
    `Heddle is already running for ${safeText(config.dataDir)}: process ${running.pid}, ${address}`,
    'Nothing was started. To add workers: heddle worker all',
  ])
}

/** Threads whose contexts show no messages, reported at each start. */
interface Windows {
  readonly outsideWindow: readonly object[]
  readonly lines: readonly string[]
}

function tellReady(
  context: CommandContext,
  config: Config,
  engine: Engine,
  { url, port }: ServedGateway,
  { outsideWindow, lines }: Windows,
): void {
  const database = withoutCredentials(engine.server.url)
  const queues = config.redisUrl === null ? 'postgres' : withoutCredentials(config.redisUrl)
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
    url,
    inspector: `${url}/ui`,
    health: `${url}/healthz`,
    outsideWindow,
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
    `  http       ${url}/v1, described at ${url}/docs`,
    `  inspector  ${url}/ui`,
    `  health     ${url}/healthz, ${url}/readyz, ${url}/metrics`,
    ...lines.map((line) => colors.yellow(line)),
    colors.green('ready; Ctrl-C stops everything'),
  ])
}
