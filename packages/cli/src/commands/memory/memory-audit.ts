import { limits, type MemoryAudit } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { wholeNumber } from '../../options/option-values.js'
import { cursorOption, given, nameOption, type PageOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { formatCount, itemTable, type Line } from '../../output/table.js'
import { clientCommand, listCommand } from '../declared.js'
import { registerMemoryBlocks } from './memory-blocks.js'

interface AuditOptions extends CommonOptions {
  readonly limit?: number
  readonly cursor?: string
}

const TEXT_CHARACTERS = 80
const USER_CHARACTERS = 20

const auditedOption = wholeNumber(
  'limit',
  1,
  limits.auditedMessagesMax,
  `Read 1 to ${limits.auditedMessagesMax} messages, such as --limit 500; --cursor leads to older ones.`,
)

export function registerMemory(program: Command, context: CommandContext): void {
  const group = program.command('memory').description('look into the memory of agents, and edit it')
  clientCommand(group, context, {
    name: 'audit',
    description: 'count copies, loops, outdated and transient texts, and secrets among the messages of an agent',
    arguments: [['<agent>', 'the agent', nameOption('agent')]],
    options: (command) =>
      command
        .option('--limit <count>', 'messages that are read, the newest first; 1,000 unless given', auditedOption)
        .addOption(cursorOption()),
    examples: ['heddle memory audit coder', 'heddle memory audit coder --limit 2000 --json'],
    load: ({ agents }, { limit, cursor }: AuditOptions, agent: string) =>
      agents.auditMemory(agent, given({ limit, cursor })),
    lines: auditLines,
  })
  listCommand(group, context, {
    name: 'instructions',
    description: 'list instructions of people that hold from then on, with references for pins',
    arguments: [['<agent>', 'the agent', nameOption('agent')]],
    examples: ['heddle memory instructions coder', 'heddle memory instructions coder --json'],
    load: ({ agents }, _: CommonOptions & PageOptions, agent: string) => agents.instructions(agent),
    items: 'instructions',
    none: () => 'no message of a person asks for something to hold from then on',
    columns: [
      { title: 'thread', text: ({ thread }) => thread },
      { title: 'reference', text: ({ reference }) => reference },
      { title: 'pinned', text: ({ pinned }) => (pinned ? 'yes' : '-') },
      {
        title: 'holds for',
        text: ({ scope, user }) => (scope === 'user' ? oneLine(user ?? '', USER_CHARACTERS) : scope),
      },
      { title: 'ended', text: ({ ended }) => (ended === null ? '-' : `${ended.at} by ${ended.reference}`) },
      { title: 'text', text: ({ text }) => oneLine(text, TEXT_CHARACTERS) },
    ],
  })
  registerMemoryBlocks(group, context)
}

function auditLines({
  agent,
  messages,
  tokens,
  threads,
  from,
  to,
  findings,
  archived,
  nextCursor,
}: MemoryAudit): Line[] {
  if (from === null || to === null) return [`agent ${safeText(agent)} has no messages`]
  return [
    `agent ${safeText(agent)} · ${formatCount(messages)} messages of ${formatCount(tokens)} tokens in ${formatCount(threads)} threads, ${from} to ${to}`,
    '',
    ...itemTable(findings, [
      { title: 'kind', text: ({ kind }) => kind },
      { title: 'messages', count: (finding) => finding.messages },
      { title: 'share', right: ({ share }) => percent(share) },
      { title: 'tokens', count: (finding) => finding.tokens },
      { title: 'such as', text: ({ references }) => references[0] ?? '' },
    ]),
    '',
    `${formatCount(archived.messages)} of them are archived; ${formatCount(archived.neverRead)} (${percent(archived.share)}) were never recalled`,
    ...(nextCursor === null ? [] : [`older messages: --cursor ${nextCursor}`]),
  ]
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`
