import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { type MessageSelection, selectionOf, withMessageSelection } from '../../options/message-selection.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { countOf } from '../../output/table.js'

interface UncompactOptions extends CommonOptions, UrlOptions, MessageSelection {
  readonly agent?: string
  readonly thread: string
  readonly all?: true
  readonly redo?: true
}

export function registerContextUncompact(group: Command, context: CommandContext): void {
  const uncompact = group
    .command('uncompact')
    .description('show condensed, removed or summarized messages verbatim again, where they fit')
    .option('--agent <name>', 'the agent of the thread', nameOption('agent'))
    .requiredOption('--thread <name>', 'the thread', nameOption('thread'))
  withMessageSelection(uncompact)
    .option('--all', 'every message of the thread')
    .option('--redo', 'allow compactions to condense them again')
  withCommonOptions(withUrlOption(uncompact), [
    'heddle context uncompact --agent coder --thread session --message msg-1a2b3c4d',
    'heddle context uncompact --thread session --from 12 --to 20',
    'heddle context uncompact --thread session --all --redo --json',
  ]).action((options: UncompactOptions) => uncompactThread(context, options))
}

async function uncompactThread(context: CommandContext, options: UncompactOptions): Promise<void> {
  const { thread, agent, message, from, to, all, redo } = options
  const given = [message !== undefined, from !== undefined || to !== undefined, all === true].filter(Boolean).length
  if (given !== 1 || (from === undefined) !== (to === undefined)) {
    const rule = 'must be given, or --from with --to, or --all, and only one of them'
    throw new UsageError('message', rule, undefined, 'Select messages, such as --message msg-1a2b3c4d.')
  }
  await withRemote(context, options, { stages: [] }, async ({ contexts }) => {
    const result = await contexts.uncompact({
      thread,
      agent,
      ...selectionOf(options),
      ...(all === true && { all }),
      ...(redo === true && { redo }),
    })
    const what =
      result.action === 'undone' ? 'will be shown verbatim again where space allows' : 'may be compacted again'
    context.printer.result(result, () => [
      `${countOf(result.messages, 'message')} of thread ${safeText(result.thread)} ${what}`,
      `${countOf(result.compactions, 'compaction')} will be redone`,
    ])
  })
}
