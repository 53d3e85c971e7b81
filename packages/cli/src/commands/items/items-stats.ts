import type { ItemStats } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { given, momentOption, nameOption } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount, itemTable, type Line } from '../../output/table.js'
import { clientCommand } from '../declared.js'
import { labelOf } from './items-owner.js'

interface StatsOptions extends CommonOptions {
  readonly agent: string
  readonly since?: string
}

export function registerItemsStats(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'stats',
    description: 'show how often contexts included each item, its cost, whether replies used it, and a suggestion',
    options: (command) =>
      command
        .requiredOption('--agent <name>', 'the agent', nameOption('agent'))
        .option(
          '--since <moment>',
          'only contexts since then: how long ago, such as 7d, or a time',
          momentOption('since'),
        ),
    examples: ['heddle items stats --agent coder', 'heddle items stats --agent coder --since 7d --json'],
    load: ({ items }, { agent, since }: StatsOptions) => items.stats(agent, given({ since })),
    lines: statsLines,
  })
}

function statsLines({ agent, from, contexts, answered, threads, isCut, items }: ItemStats): Line[] {
  if (items.length === 0) return [`agent ${safeText(agent)} has no items: see heddle items set --help`]
  const range = from === null ? '' : ` since ${from}${isCut ? ', older ones not included' : ''}`
  return [
    `agent ${safeText(agent)} · ${formatCount(contexts)} contexts with items in ${formatCount(threads)} threads, ${formatCount(answered)} answered${range}`,
    '',
    ...itemTable(items, [
      { title: 'type', text: ({ type }) => type },
      { title: 'name', text: labelOf },
      { title: 'include', text: ({ includeMode }) => includeMode ?? 'gone' },
      { title: 'contexts', count: (item) => item.contexts },
      { title: 'replies', count: (item) => item.answered },
      { title: 'used', count: ({ used }) => used },
      { title: 'score', right: ({ meanScore }) => meanScore?.toFixed(2) ?? '' },
      { title: 'tokens', count: ({ tokens }) => tokens },
      {
        title: 'suggestion',
        text: ({ suggestion }) => (suggestion === null ? '' : `${suggestion.action}: ${suggestion.reason}`),
      },
    ]),
  ]
}
