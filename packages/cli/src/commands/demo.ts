import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf, loggerOf } from '../connect/context.js'
import { demoLines } from '../demo/report.js'
import { budgetOption } from '../options/context-options.js'
import { withCommonOptions } from '../options/options.js'
import { type FormatOption, sessionFormatNames, sessionFormatOption } from '../options/session-formats.js'
import { exitCodes } from '../output/failure.js'

interface DemoOptions extends CommonOptions {
  readonly budget: number
  readonly format: FormatOption
}

/** Much smaller than the recorded session, so that the demo compacts it several times. */
const BUDGET_DEFAULT = 16_000

export function registerDemo(program: Command, context: CommandContext): void {
  const demo = program
    .command('demo')
    .description('send a recorded session through the queues, build a context from it, then stop and remove everything')
    .argument('[file]', 'a session of your own (default: the recorded session in this package)')
    .option('--budget <tokens>', 'tokens that the context may use', budgetOption, BUDGET_DEFAULT)
    .option(
      '--format <name>',
      `format of the file: ${sessionFormatNames.join(', ')}`,
      sessionFormatOption,
      'auto' as const,
    )
  withCommonOptions(demo, [
    'heddle demo',
    'heddle demo ~/.claude/projects/app/session.jsonl --budget 32000',
    'heddle demo --json',
  ])
    .addHelpText(
      'after',
      '\nIt uses a temporary folder, or the database that DATABASE_URL names; your data is not touched.',
    )
    .action((file: string | undefined, options: DemoOptions) => demonstrate(context, file, options))
}

async function demonstrate(context: CommandContext, file: string | undefined, options: DemoOptions): Promise<void> {
  const scratchDir = await mkdtemp(join(tmpdir(), 'heddle-demo-'))
  // Started by root, Postgres runs as another user, who needs the right to enter the folder; it cannot list it.
  await chmod(scratchDir, 0o711)
  try {
    // A unique name: on a shared database, one demo must not find the threads of another.
    const project = options.project ?? `demo-${Date.now().toString(36)}`
    const config = configOf(context, { ...options, project, data: options.data ?? join(scratchDir, 'data') })
    const { runDemo } = await import('../demo/run.js')
    const report = await runDemo({
      context,
      config,
      log: loggerOf(context, config, 'command'),
      scratchDir,
      budget: options.budget,
      ...(file !== undefined && { file: { path: file, format: options.format } }),
    })
    if (report.recalled?.identical === false) context.setExitCode(exitCodes.error)
    context.printer.result(report, () => demoLines(report, context.printer.colors))
  } finally {
    await removeCluster(join(scratchDir, 'data', 'postgres'))
    await rm(scratchDir, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** If the user of Postgres could not reach the folder, the data is elsewhere, and this path is a link to it. */
async function removeCluster(path: string): Promise<void> {
  const place = await realpath(path).catch(() => null)
  if (place !== null) await rm(place, { recursive: true, force: true, maxRetries: 3 })
}
