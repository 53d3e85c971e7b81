import type { AtomKind } from '@heddle/contracts'
import { atomKinds, idSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { oneOf, optionValue } from '../../options/option-values.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { oneLine } from '../../output/safe-text.js'
import { formatCount, itemTable } from '../../output/table.js'

interface LossOptions extends CommonOptions, UrlOptions {
  readonly thread: string
  readonly compaction?: string
  readonly kind?: AtomKind
}

const TEXT_CHARACTERS_MAX = 100

const compactionOption = optionValue('compaction', idSchema, 'Give the id of a state that "heddle threads show" lists.')

export function registerContextLoss(group: Command, context: CommandContext): void {
  const loss = group
    .command('loss')
    .description('show which details of its messages a compaction kept, and which it lost')
    .requiredOption('--thread <name>', 'the thread', nameOption('thread'))
    .option('--compaction <id>', 'the compaction; default: the latest with a summary', compactionOption)
    .option('--kind <kind>', `list lost details of this kind only: ${atomKinds.join(', ')}`, oneOf('kind', atomKinds))
  withCommonOptions(withUrlOption(loss), [
    'heddle context loss --thread session',
    'heddle context loss --thread session --kind constraint --json',
  ]).action((options: LossOptions) => showLoss(context, options))
}

async function showLoss(context: CommandContext, options: LossOptions): Promise<void> {
  const { thread, compaction, kind } = options
  await withRemote(context, options, null, async (client) => {
    const latest = async () => (await client.threads.get(thread)).states.findLast(({ summary }) => summary !== null)?.id
    const id = compaction ?? (await latest())
    if (id === undefined) {
      context.printer.result({ thread, compaction: null }, () => [`thread ${thread} has no compaction with a summary`])
      return
    }
    const report = await client.summaries.loss({ thread, compaction: id, kind })
    context.printer.result(report, () => [
      `compaction ${report.id}: ${formatCount(report.messagesRead)} messages in ${formatCount(report.summaryTokens)} tokens`,
      ...itemTable(report.kinds, [
        { title: 'kind', text: (counts) => counts.kind },
        { title: 'in all', count: ({ total }) => total },
        { title: 'summary', count: ({ summary }) => summary },
        { title: 'pinned', count: ({ pinned }) => pinned },
        { title: 'raw', count: ({ raw }) => raw },
        { title: 'ledger', count: ({ ledger }) => ledger },
        { title: 'recall', count: ({ recall }) => recall },
        { title: 'lost', count: ({ lost }) => lost },
      ]),
      ...(report.isComplete ? [] : ['counted in part: more is covered than one report reads']),
      ...(report.lost.length === 0 ? ['nothing is lost'] : ['', 'lost:']),
      ...itemTable(report.lost, [
        { title: 'kind', text: (one) => one.kind },
        { title: 'reference', text: ({ references }) => references[0] ?? '' },
        { title: 'text', text: ({ text }) => oneLine(text, TEXT_CHARACTERS_MAX) },
      ]),
    ])
  })
}
