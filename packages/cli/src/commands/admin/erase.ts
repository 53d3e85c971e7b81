import type { RemoteClient } from '@heddle/client/http'
import type { ErasureResult } from '@heddle/client/interface'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../../connect/context.js'
import { withEngine } from '../../connect/with-engine.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { type MessageSelection, selectionOf, withMessageSelection } from '../../options/message-selection.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { registerPlacement } from './placement.js'

interface EraseCommandOptions extends CommonOptions, UrlOptions {
  readonly yes?: true
  readonly wait: boolean
  readonly reuse?: true
}

const REUSE =
  'make the name available again, also after an earlier delete; redelivered jobs of the old one stay refused'

/** `heddle threads delete`, here or over HTTP. */
export function registerThreadsErase(group: Command, context: CommandContext): void {
  const command = withErasing(group.command('delete').alias('remove'), 'a thread')
    .argument('<name>', 'the thread', nameOption('thread'))
    .option('--reuse', REUSE)
    .option('--no-wait', 'return as soon as nothing of it is visible; removal continues in the background')
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

interface EraseMessagesCommand extends EraseCommandOptions, MessageSelection {
  readonly thread: string
}

/** `heddle messages delete`, here or over HTTP. */
export function registerMessagesErase(group: Command, context: CommandContext): void {
  const command = withErasing(group.command('delete').alias('remove'), 'messages of a thread').requiredOption(
    '--thread <name>',
    'the thread',
    nameOption('thread'),
  )
  withMessageSelection(command).option(
    '--no-wait',
    'return as soon as nothing of them is visible; removal continues in the background',
  )
  withCommonOptions(withUrlOption(command), [
    'heddle messages delete --thread session --message msg-1a2b3c4d',
    'heddle messages delete --thread session --from 12 --to 20 --yes --json',
  ]).action(async (options: EraseMessagesCommand) => {
    const { thread, wait } = options
    if (options.yes !== true) await confirm(context, 'messages of thread', thread)
    const selected = { thread, ...selectionOf(options) }
    const erase = ({ messages }: RemoteClient) => messages.erase(selected, { signal: context.signal, wait })
    printErased(context, await withRemote(context, options, { stages: [] }, erase))
  })
}

/** `heddle agents delete`, here or over HTTP. */
export function registerAgentsErase(group: Command, context: CommandContext): void {
  const command = withErasing(group.command('delete').alias('remove'), 'an agent and its threads').argument(
    '<name>',
    'the agent',
    nameOption('agent'),
  )
  command
    .option('--reuse', REUSE)
    .option('--no-wait', 'return as soon as nothing of it is visible; removal continues in the background')
  withCommonOptions(withUrlOption(command), [
    'heddle agents delete NAME',
    'heddle agents delete NAME --yes --json',
  ]).action(async (name: string, options: EraseCommandOptions) => {
    if (options.yes !== true) await confirm(context, 'agent', name)
    const { wait, reuse = false } = options
    const erase = ({ agents }: RemoteClient) => agents.delete(name, { signal: context.signal, wait, reuse })
    printErased(context, await withRemote(context, options, { stages: [] }, erase))
  })
}

export function registerProjects(program: Command, context: CommandContext): void {
  const group = program
    .command('projects')
    .description('list projects, move the project to another database, or erase it')
  registerPlacement(group, context)
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
    .description(`permanently erase ${what} and everything derived from it`)
    .option('--yes', 'do not ask for confirmation')
}

function printErased({ printer }: CommandContext, result: ErasureResult): void {
  printer.result(result, () => [
    `${result.kind === 'messages' ? 'messages of thread' : result.kind} ${safeText(result.name)} erased${result.finished ? '' : ': nothing of it is visible any more; removal continues in the background'}`,
    ...Object.entries({ ...result.removed, jobs: result.jobs })
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `  ${what.replaceAll('_', ' ')}: ${formatCount(count)}`),
  ])
}

/** An erasure cannot be undone, so the user types the name again or gives `--yes`. */
async function confirm(context: CommandContext, kind: string, name: string): Promise<void> {
  const typed = await context.ask(`Permanently erase ${kind} ${safeText(name)}? Type its name: `)
  if (typed === name) return
  throw new UsageError(
    'yes',
    typed === null ? 'is required without a terminal to confirm on' : 'is required unless the name is typed exactly',
    typed === null ? 'no terminal' : 'another name',
    `Add --yes to erase the ${kind} without confirmation.`,
  )
}
