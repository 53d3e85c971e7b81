import type { Client, ErasureResult } from '@heddle/client'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../context.js'
import { nameOption, withCommonOptions } from '../options.js'
import { UsageError } from '../output/failure.js'
import { safeText } from '../output/safe-text.js'
import { formatCount } from '../output/table.js'
import { withEngine } from '../with-engine.js'

interface EraseCommandOptions extends CommonOptions {
  readonly yes?: true
}

type Erase = (client: Client, name: string, options: { signal: AbortSignal }) => Promise<ErasureResult>

/** `heddle threads delete` and `heddle agents delete`. */
export function registerErase(group: Command, context: CommandContext, kind: 'thread' | 'agent', erase: Erase): void {
  const command = group
    .command('delete')
    .description(
      `erase ${kind === 'thread' ? 'a thread' : 'an agent and its threads'} for good, with all derived from it`,
    )
    .argument('<name>', `the ${kind}`, nameOption(kind))
    .option('--yes', 'do not ask for the name again')
  withCommonOptions(command, [`heddle ${kind}s delete NAME`, `heddle ${kind}s delete NAME --yes --json`]).action(
    (name: string, options: EraseCommandOptions) => run(context, options, kind, name, erase),
  )
}

export function registerProjects(program: Command, context: CommandContext): void {
  const command = program
    .command('projects')
    .description('erase the project')
    .command('delete')
    .description('erase the project for good, with everything in it')
    .option('--yes', 'do not ask for the name again')
  withCommonOptions(command, [
    'heddle projects delete --project old',
    'heddle projects delete --project old --yes',
  ]).action((options: EraseCommandOptions) =>
    run(context, options, 'project', null, (client, _name, erasing) => client.projects.delete(erasing)),
  )
}

async function run(
  context: CommandContext,
  options: EraseCommandOptions,
  kind: 'thread' | 'agent' | 'project',
  given: string | null,
  erase: Erase,
): Promise<void> {
  const name = given ?? configOf(context, options).project
  if (options.yes !== true) await confirm(context, kind, name)
  await withEngine(context, options, { stages: [] }, async (engine) => {
    const result = await erase(engine.client, name, { signal: context.signal })
    context.printer.result(result, () => [
      `${kind} ${safeText(result.name)} erased`,
      ...Object.entries({ ...result.removed, jobs: result.jobs })
        .filter(([, count]) => count > 0)
        .map(([what, count]) => `  ${what.replaceAll('_', ' ')}: ${formatCount(count)}`),
    ])
  })
}

/** What is erased cannot be brought back: the name is typed again, or `--yes` says that somebody has thought of it. */
async function confirm(context: CommandContext, kind: string, name: string): Promise<void> {
  const typed = await context.ask(`Erase ${kind} ${safeText(name)} for good? Type its name: `)
  if (typed === name) return
  throw new UsageError(
    'yes',
    typed === null ? 'is needed where nobody can be asked' : 'is needed unless the name is typed as it is',
    typed === null ? 'no terminal' : 'another name',
    `Add --yes to erase the ${kind} without being asked.`,
  )
}
