import { requireServer } from '@heddle/host/presence'
import type { ServedGateway } from '@heddle/host/serving'
import type { Config } from '@heddle/runtime'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../../connect/context.js'
import { refuseRemote } from '../../connect/gateway-address.js'
import { serve } from '../../connect/serve.js'
import { type AddressOptions, addressOf, withAddressOptions } from '../../options/address-options.js'
import { withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { registerProxyRequests } from './proxy-requests.js'
import { registerProxyStats } from './proxy-stats.js'

type ProxyCommandOptions = CommonOptions & AddressOptions

export function registerProxy(program: Command, context: CommandContext): void {
  const proxy = program
    .command('proxy')
    .description('relay the requests of agents to their providers and observe them, without the rest of the gateway')
  withCommonOptions(withAddressOptions(proxy), [
    'DATABASE_URL=postgres://... heddle proxy --port 4681',
    'ANTHROPIC_BASE_URL=http://127.0.0.1:4681/anthropic claude',
  ])
    .addHelpText(
      'after',
      '\nWithout DATABASE_URL it joins the server of a running "heddle up" on the same folder, which serves the same paths itself.\nWhile the store is unreachable, requests are relayed all the same.',
    )
    .action((options: ProxyCommandOptions) => runProxyCommand(context, options))
  // Options after the name of a further command are its own.
  registerProxyStats(proxy.enablePositionalOptions(), context)
  registerProxyRequests(proxy, context)
}

async function runProxyCommand(context: CommandContext, options: ProxyCommandOptions): Promise<void> {
  refuseRemote(context, {}, 'running a proxy')
  const config = configOf(context, options, addressOf(options))
  await requireServer(config)
  const { runProxy } = await import('@heddle/host/serving')
  await serve(context, config, (surroundings) =>
    runProxy(surroundings, { ready: (served) => tellReady(context, config, served) }),
  )
}

function tellReady(context: CommandContext, config: Config, { url, port }: ServedGateway): void {
  const upstreams = upstreamAddresses(config, url)
  const document = { status: 'ready', pid: process.pid, project: config.project, port, url, upstreams }
  const { colors } = context.printer
  context.printer.result(document, () => [
    `${colors.bold('Heddle proxy')} (process ${process.pid})`,
    `  project    ${safeText(config.project)}`,
    ...upstreams.map(({ address, upstream }) => `  ${address} relays to ${safeText(upstream)}`),
    colors.green('ready; Ctrl-C stops it'),
  ])
}

/** The addresses for agents, and where each leads. */
function upstreamAddresses({ proxy }: Config, url: string): { address: string; upstream: string }[] {
  return Object.entries(proxy.upstreams).map(([name, upstream]) => ({
    address: `${url}/${name}${upstream.url.endsWith('/v1') ? '/v1' : ''}`,
    upstream: upstream.url,
  }))
}
