import { stageNames } from '@heddle/contracts'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf, loggerOf } from '../../connect/context.js'
import { withEngine } from '../../connect/with-engine.js'
import { remoteClientOf, type UrlOptions, withUrlOption } from '../../connect/with-remote.js'
import { withCommonOptions } from '../../options/options.js'

export function registerMcp(program: Command, context: CommandContext): void {
  const mcp = program
    .command('mcp')
    .description('serve MCP over standard input and output, for MCP hosts that start their servers themselves')
  withCommonOptions(withUrlOption(mcp), [
    'heddle mcp --project team-a',
    'HEDDLE_KEY=hdl_... heddle mcp --url https://heddle.example',
  ]).action((options: CommonOptions & UrlOptions) => serve(context, options))
}

async function serve(context: CommandContext, options: CommonOptions & UrlOptions): Promise<void> {
  const { signal } = context
  const client = await remoteClientOf(context, options)
  const { serveMcpOverStdio } = await import('@heddle/gateway')
  if (client === null) {
    return await withEngine(context, options, { stages: stageNames }, async ({ client, log }) => {
      await serveMcpOverStdio({ client, role: 'admin', log, signal })
    })
  }
  const log = loggerOf(context, configOf(context, options), 'command')
  // The gateway itself refuses operations that the role of the key does not allow.
  await serveMcpOverStdio({ client, role: 'admin', log, signal })
}
