import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { registerBackup } from './commands/admin/backup.js'
import { registerCompletion } from './commands/admin/completion.js'
import { registerDoctor } from './commands/admin/doctor.js'
import { registerProjects } from './commands/admin/erase.js'
import { registerForecast } from './commands/admin/forecast.js'
import { registerGrants } from './commands/admin/grants.js'
import { registerKeys } from './commands/admin/keys.js'
import { registerMigrate } from './commands/admin/migrate.js'
import { registerModels } from './commands/admin/models.js'
import { registerQueues } from './commands/admin/queues.js'
import { registerRestore } from './commands/admin/restore.js'
import { registerScaling } from './commands/admin/scaling.js'
import { registerAgents } from './commands/agents/agents.js'
import { registerIterations } from './commands/agents/iterations.js'
import { registerSettings } from './commands/agents/settings.js'
import { registerContext } from './commands/context/context.js'
import { registerDemo } from './commands/demo.js'
import { registerRecall } from './commands/find/recall.js'
import { registerSearch } from './commands/find/search.js'
import { registerImport } from './commands/import.js'
import { registerItems } from './commands/items/items.js'
import { registerFacts } from './commands/memory/facts.js'
import { registerMemory } from './commands/memory/memory-audit.js'
import { registerMessages } from './commands/messages/messages.js'
import { registerGateway } from './commands/serve/gateway.js'
import { registerMcp } from './commands/serve/mcp.js'
import { registerOpen } from './commands/serve/open.js'
import { registerProxy } from './commands/serve/proxy.js'
import { registerTail } from './commands/serve/tail.js'
import { registerUp } from './commands/serve/up.js'
import { registerWorker } from './commands/serve/worker.js'
import { registerThreads } from './commands/threads/threads.js'
import type { CommandContext } from './connect/context.js'
import { UsageError } from './output/failure.js'

/** The command line of `heddle`. Usage errors are thrown, not printed, and nothing here exits the process. */
export function buildProgram(context: CommandContext): Command {
  const program = new Command('heddle')
    .description('The context engine for LLM agents: stores their threads and builds contexts that fit a token budget.')
    .option('-V, --version', 'print the version')
    .on('option:version', () => {
      const version = packageVersion()
      context.printer.result({ version }, () => [version])
      // As with Commander's own version option, the rest of the command line is ignored.
      throw new CommanderError(0, 'commander.version', version)
    })
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeOut: (text) => context.printer.help(text), writeErr: () => undefined })
    .addHelpText(
      'after',
      '\nFirst steps:\n  $ heddle demo\n  $ heddle import session.jsonl --agent coder\n  $ heddle context build --agent coder --thread session --budget 16000\n\nExit codes: 0 success, 1 error, 2 wrong usage.',
    )
  const register = [
    registerUp,
    registerOpen,
    registerDemo,
    registerImport,
    registerContext,
    registerThreads,
    registerMemory,
    registerFacts,
    registerMessages,
    registerAgents,
    registerSettings,
    registerProjects,
    registerIterations,
    registerItems,
    registerRecall,
    registerSearch,
    registerTail,
    registerModels,
    registerMcp,
    registerKeys,
    registerGrants,
    registerQueues,
    registerScaling,
    registerForecast,
    registerWorker,
    registerGateway,
    registerProxy,
    registerMigrate,
    registerBackup,
    registerRestore,
    registerDoctor,
    registerCompletion,
  ]
  for (const command of register) command(program, context)
  refuseRepeats(program)
  return program
}

/** Options that select what a command acts on. */
const SELECTIONS: ReadonlySet<string> = new Set(['agent', 'thread', 'message'])

/**
 * Of an option that is given twice, Commander takes the last value, with which an alias is overridden. Of two messages to erase it
 * would be the second one alone.
 */
function refuseRepeats(command: Command): void {
  for (const option of command.options.filter((each) => SELECTIONS.has(each.name()))) {
    let isGiven = false
    command.on(`option:${option.name()}`, (value: unknown) => {
      // Those that may be repeated collect a list, to which Commander has added the value by now.
      if (isGiven && !Array.isArray(command.getOptionValue(option.attributeName())))
        throw new UsageError(option.name(), 'is given more than once', String(value), 'Give one value, once.')
      isGiven = true
    })
  }
  for (const child of command.commands) refuseRepeats(child)
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  if (manifest !== null && typeof manifest === 'object' && 'version' in manifest) return String(manifest.version)
  return 'unknown'
}
