import type { SummaryNode } from '@heddle/client/interface'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { nameOption, type PageOptions, withCommonOptions, withPageOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { formatCount, itemTable, moreLines } from '../../output/table.js'

interface SummariesOptions extends CommonOptions, UrlOptions, PageOptions {
  readonly thread: string
  readonly expand?: string
}

const TEXT_CHARACTERS_MAX = 80

export function registerContextSummaries(group: Command, context: CommandContext): void {
  const summaries = group
    .command('summaries')
    .description('list the summaries of a thread and their parts, or the messages behind one')
    .requiredOption('--thread <name>', 'the thread', nameOption('thread'))
    .option('--expand <id>', 'list the messages that this summary covers')
  withCommonOptions(withUrlOption(withPageOptions(summaries)), [
    'heddle context summaries --thread session',
    'heddle context summaries --thread session --expand 018f2f3e-0000-7000-8000-000000000000 --limit 20',
  ]).action((options: SummariesOptions) => showSummaries(context, options))
}

async function showSummaries(context: CommandContext, options: SummariesOptions): Promise<void> {
  const { thread, expand, limit, cursor } = options
  const { printer } = context
  await withRemote(context, options, null, async (client) => {
    if (expand !== undefined) {
      const page = await client.summaries.messages({ thread, summary: expand, limit, cursor })
      printer.result(page, () => [
        ...itemTable(page.items, [
          { title: 'reference', text: ({ reference }) => reference },
          { title: 'seq', count: ({ seq }) => seq },
          { title: 'role', text: ({ role }) => role },
          { title: 'text', text: ({ content }) => oneLine(content, TEXT_CHARACTERS_MAX) },
        ]),
        ...moreLines(page.nextCursor),
      ])
      return
    }
    const page = await client.summaries.list({ thread, limit, cursor })
    printer.result(page, () => [
      ...(page.items.length === 0 ? [`thread ${safeText(thread)} has no summary`] : []),
      ...itemTable(page.items, [
        { title: 'id', text: ({ id }) => id },
        { title: 'kind', text: ({ kind }) => kind },
        { title: 'of contexts', text: ({ lane }) => (lane === null ? '' : laneText(lane)) },
        { title: 'parts', count: ({ children }) => children.length },
        { title: 'from', text: ({ from }) => String(from?.seq ?? '') },
        { title: 'to', text: ({ to }) => String(to?.seq ?? '') },
        { title: 'text', text: ({ summary }) => oneLine(summary ?? '', TEXT_CHARACTERS_MAX) },
      ]),
      ...moreLines(page.nextCursor),
    ])
  })
}

function laneText({ strategy, limitTokens, isOwn }: NonNullable<SummaryNode['lane']>): string {
  return `${isOwn ? '' : 'requested: '}${strategy}, ${formatCount(limitTokens)} tokens`
}
