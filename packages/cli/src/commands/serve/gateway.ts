import type { Engine } from '@heddle/host'
import { requireServer } from '@heddle/host/presence'
import type { ServedGateway } from '@heddle/host/serving'
import { type Config, withoutCredentials } from '@heddle/runtime'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../../connect/context.js'
import { refuseRemote } from '../../connect/gateway-address.js'
import { serve } from '../../connect/serve.js'
import { type AddressOptions, addressOf, withAddressOptions } from '../../options/address-options.js'
import { withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'

type GatewayCommandOptions = CommonOptions & AddressOptions

export function registerGateway(program: Command, context: CommandContext): void {
  const gateway = program
    .command('gateway')
    .description('serve HTTP, events, MCP and metrics without workers; any number can run behind a load balancer')
  withCommonOptions(withAddressOptions(gateway), [
    'DATABASE_URL=postgres://... REDIS_URL=redis://... heddle gateway',
    'heddle gateway --port 4681 --host 0.0.0.0',
  ])
    .addHelpText(
      'after',
      '\nWithout DATABASE_URL it joins the server of a running "heddle up" on the same folder.\nIt runs no workers: start them with heddle worker. On SIGTERM, running requests get some seconds to finish.',
    )
    .action((options: GatewayCommandOptions) => runGateway(context, options))
}

async function runGateway(context: CommandContext, options: GatewayCommandOptions): Promise<void> {
  refuseRemote(context, {}, 'running a gateway')
  const config = configOf(context, options, addressOf(options))
  await requireServer(config)
  const { runGateway } = await import('@heddle/host/serving')
  await serve(context, config, (surroundings) =>
    runGateway(surroundings, {
      command: 'gateway',
      stages: [],
      examine: async () => (await import('../../doctor/examine.js')).examine(context, options),
      listening: async () => context.printer.note('starting ...'),
      ready: async (engine, gateway) => () => tellReady(context, config, engine, gateway),
    }),
  )
}

function tellReady(context: CommandContext, config: Config, engine: Engine, { url, port }: ServedGateway): void {
  const database = withoutCredentials(engine.server.url)
  const queues = config.redisUrl === null ? 'postgres' : withoutCredentials(config.redisUrl)
  const document = {
    status: 'ready',
    pid: process.pid,
    mode: config.mode,
    project: config.project,
    database,
    queues,
    port,
    url,
    health: `${url}/healthz`,
  }
  const { colors } = context.printer
  context.printer.result(document, () => [
    `${colors.bold('Heddle gateway')} (process ${process.pid})`,
    `  project    ${safeText(config.project)}`,
    `  database   ${database}`,
    `  queues     ${config.redisUrl === null ? 'in the same Postgres' : queues}`,
    `  http       ${url}/v1, described at ${url}/docs`,
    `  health     ${url}/healthz, ${url}/readyz, ${url}/metrics`,
    colors.green('ready; Ctrl-C stops it'),
  ])
}
