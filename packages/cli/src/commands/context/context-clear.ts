import { timeSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { optionValue } from '../../options/option-values.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'

interface ClearOptions extends CommonOptions, UrlOptions {
  readonly agent: string
  readonly clearedAt?: string
}

const timeOption = optionValue(
  'cleared-at',
  timeSchema,
  'Give a time with its zone, such as --cleared-at 2026-02-12T14:30:00Z, or leave it out for now.',
)

export function registerContextClear(group: Command, context: CommandContext): void {
  const clear = group
    .command('clear')
    .description('begin the windows of all threads of an agent anew; nothing is deleted')
    .requiredOption('--agent <name>', 'the agent', nameOption('agent'))
    .option('--cleared-at <time>', 'when it was cleared, where that was before now', timeOption)
  withCommonOptions(withUrlOption(clear), [
    'heddle context clear --agent coder',
    'heddle context clear --agent coder --cleared-at 2026-02-12T14:30:00Z --json',
  ]).action((options: ClearOptions) => clearContexts(context, options))
}

async function clearContexts(context: CommandContext, options: ClearOptions): Promise<void> {
  const { agent, clearedAt } = options
  await withRemote(context, options, null, async (client) => {
    const cleared = await client.agents.clear(agent, clearedAt === undefined ? {} : { clearedAt })
    context.printer.result(cleared, () => [
      `cleared agent ${safeText(cleared.agent)}: its window begins after ${cleared.clearedAt} (threads with messages before it: ${formatCount(cleared.threads)})`,
      'nothing was deleted: heddle threads history THREAD shows what there was',
    ])
  })
}
