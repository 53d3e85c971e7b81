import type { MessageEntry } from '@heddle/client/interface'
import { describePart } from '@heddle/core'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { oneOf } from '../../options/option-values.js'
import { cursorOption, limitOption, nameOption, withCommonOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { formatCount, type Line, moreLines, tableLines } from '../../output/table.js'

interface HistoryOptions extends CommonOptions, UrlOptions {
  readonly limit?: number
  readonly cursor?: string
  readonly order: 'asc' | 'desc'
}

export function registerThreadsHistory(group: Command, context: CommandContext): void {
  const history = group
    .command('history')
    .description('page through everything that was appended to a thread, also what contexts no longer show')
    .argument('<name>', 'the thread', nameOption('thread'))
    .option('--order <direction>', 'asc (oldest first) or desc', oneOf('order', ['asc', 'desc']), 'asc' as const)
    .option('--limit <count>', 'rows of a page', limitOption)
    .addOption(cursorOption())
  withCommonOptions(withUrlOption(history), [
    'heddle threads history session',
    'heddle threads history session --order desc --limit 20 --json',
  ]).action((name: string, options: HistoryOptions) => showHistory(context, name, options))
}

async function showHistory(context: CommandContext, name: string, options: HistoryOptions): Promise<void> {
  const { limit, cursor, order } = options
  await withRemote(context, options, null, async (client) => {
    const page = await client.messages.list({
      thread: name,
      order,
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    })
    context.printer.result(page, () =>
      page.items.length === 0
        ? ['no messages on this page']
        : [...historyLines(page.items), ...moreLines(page.nextCursor)],
    )
  })
}

const EXCERPT_CHARACTERS = 80

function historyLines(entries: readonly MessageEntry[]): Line[] {
  return tableLines(
    [
      { title: 'seq', align: 'right' },
      { title: 'time' },
      { title: 'role' },
      { title: 'window' },
      { title: 'reference' },
      { title: 'message' },
    ],
    entries.map((entry) => [
      formatCount(entry.seq),
      entry.orderedAt,
      safeText(entry.role),
      entry.inWindow ? 'in' : '-',
      entry.reference,
      excerpt(entry),
    ]),
  )
}

function excerpt({ content, parts = [], toolCalls = [] }: MessageEntry): string {
  const shown = parts.map((part) => `[${describePart(part)}]`)
  const calls = toolCalls.map(({ name }) => `[calls ${name}]`)
  return oneLine([content, ...shown, ...calls].filter((part) => part !== '').join(' '), EXCERPT_CHARACTERS)
}
