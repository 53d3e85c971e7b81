import type { RemoteClient } from '@heddle/client/http'
import type { ErasureResult } from '@heddle/client/interface'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../../connect/context.js'
import { withEngine } from '../../connect/with-engine.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'

interface EraseCommandOptions extends CommonOptions, UrlOptions {
  readonly yes?: true
  readonly wait: boolean
  readonly reuse?: true
}

const REUSE = 'free the name for a new one, now or after an earlier delete; what was erased stays refused'

/** `heddle threads delete`, here or over HTTP. */
export function registerThreadsErase(group: Command, context: CommandContext): void {
  const command = withErasing(group.command('delete').alias('remove'), 'a thread')
    .argument('<name>', 'the thread', nameOption('thread'))
    .option('--reuse', REUSE)
    .option('--no-wait', 'answer once nothing of it is shown any more; the rest is removed meanwhile')
  withCommonOptions(withUrlOption(command), [
    'heddle threads delete NAME',
    'heddle threads delete NAME --yes --json',
    'heddle threads delete NAME --reuse',
  ]).action(async (name: string, options: EraseCommandOptions) => {
    if (options.yes !== true) await confirm(context, 'thread', name)
    const { wait, reuse = false } = options
    const erase = ({ threads }: RemoteClient) => threads.delete(name, { signal: context.signal, wait, reuse })
    const result = await withRemote(context, options, { stages: [] }, erase)
    printErased(context, result)
  })
}

/** `heddle agents delete`. */
export function registerAgentsErase(group: Command, context: CommandContext): void {
  const command = withErasing(group.command('delete').alias('remove'), 'an agent and its threads').argument(
    '<name>',
    'the agent',
    nameOption('agent'),
  )
  command.option('--reuse', REUSE)
  withCommonOptions(command, ['heddle agents delete NAME', 'heddle agents delete NAME --yes --json']).action(
    async (name: string, options: EraseCommandOptions) => {
      if (options.yes !== true) await confirm(context, 'agent', name)
      await withEngine(context, options, { stages: [] }, async ({ client }) =>
        printErased(
          context,
          await client.agents.delete(name, { signal: context.signal, reuse: options.reuse ?? false }),
        ),
      )
    },
  )
}

export function registerProjects(program: Command, context: CommandContext): void {
  const group = program.command('projects').description('erase the project')
  const command = withErasing(group.command('delete'), 'the project')
  withCommonOptions(command, [
    'heddle projects delete --project old',
    'heddle projects delete --project old --yes',
  ]).action(async (options: EraseCommandOptions) => {
    if (options.yes !== true) await confirm(context, 'project', configOf(context, options).project)
    await withEngine(context, options, { stages: [] }, async ({ client }) =>
      printErased(context, await client.projects.delete({ signal: context.signal })),
    )
  })
}

function withErasing(command: Command, what: string): Command {
  return command
    .description(`erase ${what} for good, with all derived from it`)
    .option('--yes', 'do not ask for the name again')
}

function printErased({ printer }: CommandContext, result: ErasureResult): void {
  printer.result(result, () => [
    `${result.kind} ${safeText(result.name)} erased${result.finished ? '' : ': nothing of it is shown any more, and it is being removed'}`,
    ...Object.entries({ ...result.removed, jobs: result.jobs })
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `  ${what.replaceAll('_', ' ')}: ${formatCount(count)}`),
  ])
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
