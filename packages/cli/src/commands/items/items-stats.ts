import type { ItemStats, ItemStatsEntry } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { momentOption, nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount, type Line, tableLines } from '../../output/table.js'
import { labelOf } from './items-view.js'

interface StatsOptions extends CommonOptions, UrlOptions {
  readonly agent: string
  readonly since?: string
}

export function registerItemsStats(group: Command, context: CommandContext): void {
  const stats = group
    .command('stats')
    .description(
      'show how often contexts had each item, at what cost, whether replies used it, and what to do about it',
    )
    .requiredOption('--agent <name>', 'the agent', nameOption('agent'))
    .option('--since <moment>', 'only contexts from then on: 7d ago, or a time', momentOption('since'))
  withCommonOptions(withUrlOption(stats), [
    'heddle items stats --agent coder',
    'heddle items stats --agent coder --since 7d --json',
  ]).action(async (options: StatsOptions) => {
    const { agent, since } = options
    await withRemote(context, options, null, async (client) => {
      const found = await client.items.stats(agent, since === undefined ? {} : { since })
      context.printer.result(found, () => statsLines(found))
    })
  })
}

const RIGHT = 'right' as const

function statsLines({ agent, from, contexts, answered, threads, isCut, items }: ItemStats): Line[] {
  if (items.length === 0) return [`agent ${safeText(agent)} has no items: see heddle items set --help`]
  const range = from === null ? '' : ` since ${from}${isCut ? ', older ones not looked at' : ''}`
  const titles = [
    { title: 'type' },
    { title: 'name' },
    { title: 'include' },
    { title: 'contexts', align: RIGHT },
    { title: 'replies', align: RIGHT },
    { title: 'used', align: RIGHT },
    { title: 'score', align: RIGHT },
    { title: 'tokens', align: RIGHT },
    { title: 'suggestion' },
  ]
  return [
    `agent ${safeText(agent)} · ${formatCount(contexts)} contexts with items in ${formatCount(threads)} threads, ${formatCount(answered)} answered${range}`,
    '',
    ...tableLines(titles, items.map(cellsOf)),
  ]
}

function cellsOf(item: ItemStatsEntry): string[] {
  const { type, includeMode, contexts, answered, used, meanScore, tokens, suggestion } = item
  return [
    type,
    safeText(labelOf(item)),
    includeMode ?? 'gone',
    formatCount(contexts),
    formatCount(answered),
    formatCount(used),
    meanScore === null ? '' : meanScore.toFixed(2),
    formatCount(tokens),
    suggestion === null ? '' : `${suggestion.action}: ${suggestion.reason}`,
  ]
}
