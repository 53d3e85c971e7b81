import type { SyncedTools } from '@heddle/client/interface'
import { type IncludeMode, includeModes } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { withRemote } from '../../connect/with-remote.js'
import { type ServerOptions, toolServerOf } from '../../mcp-tools/server-options.js'
import { oneOf, wholeNumber } from '../../options/option-values.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { withoutLines } from './items-without.js'

interface SyncOptions extends CommonOptions, ServerOptions {
  readonly agent: string
  readonly server: string
  readonly include?: IncludeMode
  readonly timeout: number
}

const timeoutOption = wholeNumber('timeout', 1, 600, 'Give seconds, such as --timeout 60.')

export function registerItemsSync(group: Command, context: CommandContext): void {
  const sync = group
    .command('sync')
    .description("replace an agent's tools of an MCP server by those that the server lists")
    .argument('[words...]', 'after --: further arguments of the command, or the whole command')
    .requiredOption(
      '--agent <name>',
      'the agent that receives the tools; created if it does not exist',
      nameOption('agent'),
    )
    .requiredOption('--server <name>', 'name of the server in Heddle', nameOption('server'))
    .option('--command <words...>', 'start this program and use MCP over its standard input and output')
    .option('--env <name...>', 'pass this environment variable to the program, which inherits few others')
    .option('--url <address>', 'use the MCP server at this address (Streamable HTTP); HEDDLE_URL names a gateway')
    .option('--header <name=variable...>', 'send a header with the value of this environment variable')
    .option('--allow-private', 'allow an address of this machine or of a private network')
    .option(
      '--include <mode>',
      `when contexts include its tools: ${includeModes.join(', ')}`,
      oneOf('include', includeModes),
    )
    .option('--timeout <seconds>', 'time limit for the whole exchange', timeoutOption, 30)
  withCommonOptions(sync, [
    'heddle items sync --agent coder --server everything --command npx -- -y @modelcontextprotocol/server-everything',
    'heddle items sync --agent coder --server github --command github-mcp-server stdio --env GITHUB_TOKEN',
    'heddle items sync --agent coder --server docs --url https://example.com/mcp --header Authorization=DOCS_AUTH',
  ])
    .addHelpText(
      'after',
      '\nThe server is queried first, and its process ends before anything is stored: all of its tools, or none. This machine\nqueries it, even if HEDDLE_URL names the gateway that stores the tools.',
    )
    .action((words: string[], options: SyncOptions) => syncItems(context, words, options))
}

async function syncItems(context: CommandContext, words: readonly string[], options: SyncOptions): Promise<void> {
  const { agent, server, include } = options
  const toolServer = toolServerOf(options, words, context)
  // Loaded lazily: help needs no MCP SDK.
  const { listServerTools } = await import('../../mcp-tools/list-tools.js')
  const { tools, notes } = await listServerTools(toolServer, {
    timeoutMs: options.timeout * 1_000,
    signal: context.signal,
  })
  // Here `--url` is the MCP server; HEDDLE_URL alone names the gateway.
  const { url: _, ...rest } = options
  await withRemote(context, rest, null, async (client) => {
    const synced = await client.items.sync(agent, server, tools, { include })
    context.printer.result({ agent, ...synced, notes }, () => {
      const { added, changed, removed, unchanged } = synced
      return [
        `server ${safeText(server)} · agent ${safeText(agent)} · ${formatCount(tools.length)} tools, ${formatCount(unchanged)} as before`,
        ...namesLine('new', added),
        ...namesLine('changed', changed),
        ...namesLine('gone', removed),
        ...addedLines(synced),
        ...firstOf(notes).map((note) => `note: ${oneLine(note, 300)}`),
      ]
    })
  })
}

/** Printed for new tools only: a daily sync would repeat the rest each day. */
function addedLines({ added, serverName, threadsWithout }: SyncedTools): string[] {
  const [name] = added
  if (name === undefined) return []
  return withoutLines(threadsWithout, { type: 'tool', name, serverName }, added.length === 1 ? 'it' : 'all of them')
}

const NAMES_SHOWN_MAX = 50

function namesLine(title: string, names: readonly string[]): string[] {
  if (names.length === 0) return []
  return [`${title} (${formatCount(names.length)}): ${firstOf(names).map(safeText).join(', ')}`]
}

function firstOf(texts: readonly string[]): string[] {
  const left = texts.length - NAMES_SHOWN_MAX
  return left <= 0
    ? [...texts]
    : [...texts.slice(0, NAMES_SHOWN_MAX), `and ${formatCount(left)} more (--json shows all)`]
}
