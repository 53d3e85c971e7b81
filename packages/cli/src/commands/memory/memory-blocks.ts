import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { wholeNumber } from '../../options/option-values.js'
import { given } from '../../options/options.js'
import { clientCommand } from '../declared.js'
import { registerBlockGrants } from './block-grants.js'
import {
  blockLines,
  type ChangeOptions,
  keyOf,
  labelArgument,
  textArgument,
  textOption,
  versionOption,
  withChange,
} from './block-options.js'
import { registerBlockReads } from './block-reads.js'

interface PutOptions extends ChangeOptions {
  readonly value?: string
  readonly description?: string
  readonly limit?: number
  readonly readOnly?: boolean
}

const limitOption = wholeNumber('limit', 1, 20_000, 'Give a number of characters, such as --limit 2000.')

export function registerMemoryBlocks(memory: Command, context: CommandContext): void {
  const group = memory.command('blocks').description('short texts that every context shows, and that agents edit')
  registerBlockReads(group, context)
  registerBlockGrants(group, context)
  clientCommand(group, context, {
    name: 'put',
    description: 'create a block, or change the given fields of it',
    arguments: [labelArgument],
    options: (command) =>
      withChange(command)
        .option('--value <text>', 'the whole text', textOption('value'))
        .option('--description <text>', 'for the model: the purpose of the block')
        .option('--limit <characters>', 'most characters of the text; 5,000 unless given', limitOption)
        .option('--read-only', 'models may not change it')
        .option('--no-read-only', 'models may change it'),
    examples: [
      'heddle memory blocks put human --agent coder --value "Speaks French." --description "the user"',
      'heddle memory blocks put rules --read-only --if-version 3 --json',
    ],
    load: ({ blocks }, { value, description, limit, readOnly, ifVersion, ...owner }: PutOptions, label: string) =>
      blocks.put(keyOf(label, owner), given({ value, description, limit, readOnly, ifVersion })),
    lines: blockLines,
  })
  clientCommand(group, context, {
    name: 'insert',
    description: 'insert lines into a block',
    arguments: [labelArgument, textArgument],
    options: (command) =>
      withChange(command).option(
        '--after-line <count>',
        'the lines before it; all unless given',
        wholeNumber('after-line', 0, 20_000, 'Give a number of lines, such as --after-line 0.'),
      ),
    examples: ['heddle memory blocks insert human "Has two cats." --agent coder'],
    load: (
      { blocks },
      { afterLine, ifVersion, ...owner }: ChangeOptions & { readonly afterLine?: number },
      label: string,
      text: string,
    ) => blocks.insert(keyOf(label, owner), { text, ...given({ afterLine, ifVersion }) }),
    lines: blockLines,
  })
  clientCommand(group, context, {
    name: 'replace',
    description: 'replace a part of a block that occurs once',
    arguments: [labelArgument],
    options: (command) =>
      withChange(command)
        .requiredOption('--old <text>', 'a part that occurs once', textOption('old'))
        .requiredOption('--new <text>', 'the text in its place; empty removes it', textOption('new')),
    examples: ['heddle memory blocks replace human --agent coder --old "two cats" --new "three cats"'],
    load: (
      { blocks },
      { old, new: newText, ifVersion, ...owner }: ChangeOptions & { readonly old: string; readonly new: string },
      label: string,
    ) => blocks.replace(keyOf(label, owner), { oldText: old, newText, ...given({ ifVersion }) }),
    lines: blockLines,
  })
  clientCommand(group, context, {
    name: 'rethink',
    description: 'write the text of a block anew',
    arguments: [labelArgument, textArgument],
    options: withChange,
    examples: ['heddle memory blocks rethink human "Speaks French; three cats." --agent coder --if-version 4'],
    load: ({ blocks }, { ifVersion, ...owner }: ChangeOptions, label: string, value: string) =>
      blocks.rethink(keyOf(label, owner), { value, ...given({ ifVersion }) }),
    lines: blockLines,
  })
  clientCommand(group, context, {
    name: 'undo',
    description: 'take an earlier version of a block into force again, as a new one',
    arguments: [labelArgument],
    options: (command) =>
      withChange(command).option('--to-version <number>', 'the one before unless given', versionOption('to-version')),
    examples: ['heddle memory blocks undo human --agent coder', 'heddle memory blocks undo human --to-version 2'],
    load: (
      { blocks },
      { toVersion, ifVersion, ...owner }: ChangeOptions & { readonly toVersion?: number },
      label: string,
    ) => blocks.undo(keyOf(label, owner), given({ toVersion, ifVersion })),
    lines: blockLines,
  })
  clientCommand(group, context, {
    name: 'remove',
    description: 'remove a block from contexts; its history stays',
    arguments: [labelArgument],
    options: withChange,
    examples: ['heddle memory blocks remove human --agent coder'],
    load: ({ blocks }, { ifVersion, ...owner }: ChangeOptions, label: string) =>
      blocks.remove(keyOf(label, owner), given({ ifVersion })),
    lines: (block) => [...blockLines(block).slice(0, 1), 'removed; undo brings it back'],
  })
}
