import type { MemoryBlock } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { given, type PageOptions } from '../../options/options.js'
import { oneLine } from '../../output/safe-text.js'
import { type ItemColumn, itemTable } from '../../output/table.js'
import { clientCommand, listCommand } from '../declared.js'
import { blockLines, keyOf, labelArgument, type OwnerOptions, versionOption, withOwner } from './block-options.js'

const TEXT_CHARACTERS = 60

const listed: readonly ItemColumn<MemoryBlock>[] = [
  { title: 'scope', text: ({ scope }) => scope },
  { title: 'label', text: ({ label }) => label },
  { title: 'version', count: ({ version }) => version },
  { title: 'text', text: ({ value }) => oneLine(value, TEXT_CHARACTERS) },
]

/** Commands that change nothing. */
export function registerBlockReads(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'list',
    description: 'list the blocks that contexts of a thread, an agent or the project show, in their order',
    options: withOwner,
    examples: ['heddle memory blocks list --thread session', 'heddle memory blocks list --agent coder --json'],
    load: ({ blocks }, { thread, agent }: OwnerOptions) => blocks.list(given({ thread, agent })),
    lines: ({ items }) => (items.length === 0 ? ['there is no block'] : itemTable(items, listed)),
  })
  clientCommand(group, context, {
    name: 'show',
    description: 'show a block, or an older version of it',
    arguments: [labelArgument],
    options: (command) =>
      withOwner(command).option('--version-number <number>', 'an older version', versionOption('version-number')),
    examples: ['heddle memory blocks show human --agent coder', 'heddle memory blocks show human --version-number 2'],
    load: (
      { blocks },
      { versionNumber, ...owner }: OwnerOptions & { readonly versionNumber?: number },
      label: string,
    ) => blocks.get(keyOf(label, owner), given({ version: versionNumber })),
    lines: blockLines,
  })
  listCommand(group, context, {
    name: 'history',
    description: 'list all versions of a block, the newest first',
    arguments: [labelArgument],
    options: withOwner,
    examples: ['heddle memory blocks history human --agent coder'],
    load: ({ blocks }, { limit, cursor, ...owner }: OwnerOptions & PageOptions, label: string) =>
      blocks.history(keyOf(label, owner), given({ limit, cursor })),
    items: 'versions',
    none: () => 'the block has no versions',
    columns: [
      { title: 'version', count: ({ version }) => version },
      { title: 'change', text: ({ change }) => change },
      { title: 'by', text: ({ changedBy }) => changedBy ?? '-' },
      { title: 'at', text: ({ changedAt }) => changedAt },
      { title: 'text', text: ({ value }) => oneLine(value, TEXT_CHARACTERS) },
    ],
  })
}
