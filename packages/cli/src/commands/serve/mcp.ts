import { stageNames } from '@heddle/contracts'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf, loggerOf } from '../../connect/context.js'
import { withEngine } from '../../connect/with-engine.js'
import { remoteClientOf, type UrlOptions, withUrlOption } from '../../connect/with-remote.js'
import { nameOption, withCommonOptions } from '../../options/options.js'

interface McpOptions extends CommonOptions, UrlOptions {
  readonly thread?: string
}

export function registerMcp(program: Command, context: CommandContext): void {
  const mcp = program
    .command('mcp')
    .description('serve MCP over standard input and output, for MCP hosts that start their servers themselves')
    .option('--thread <name>', 'the thread in which short references are searched first', nameOption('thread'))
  withCommonOptions(withUrlOption(mcp), [
    'heddle mcp --project team-a --thread session',
    'HEDDLE_KEY=hdl_... heddle mcp --url https://heddle.example',
  ]).action((options: McpOptions) => serve(context, options))
}

async function serve(context: CommandContext, options: McpOptions): Promise<void> {
  const { signal } = context
  const session = { thread: options.thread }
  const client = await remoteClientOf(context, options)
  const { serveMcpOverStdio } = await import('@heddle/gateway')
  if (client === null) {
    return await withEngine(context, options, { stages: stageNames }, async ({ client, log }) => {
      await serveMcpOverStdio({ client, rights: { role: 'admin' }, log, signal, session })
    })
  }
  const log = loggerOf(context, configOf(context, options), 'command')
  // The gateway itself refuses operations that the role of the key does not allow.
  await serveMcpOverStdio({ client, rights: { role: 'admin' }, log, signal, session })
}
