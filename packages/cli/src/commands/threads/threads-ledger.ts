import { type AtomKind, atomKinds } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { oneOf } from '../../options/option-values.js'
import { given, nameOption, type PageOptions } from '../../options/options.js'
import { oneLine } from '../../output/safe-text.js'
import { listCommand } from '../declared.js'

const TEXT_CHARACTERS = 80

interface LedgerOptions extends PageOptions {
  readonly kind?: AtomKind
}

export function registerThreadsLedger(group: Command, context: CommandContext): void {
  listCommand(group, context, {
    name: 'ledger',
    description: 'list files, commands, errors and other details of a thread, with their last states',
    arguments: [['<name>', 'the thread', nameOption('thread')]],
    options: (command) => command.option('--kind <kind>', `one of ${atomKinds.join(', ')}`, oneOf('kind', atomKinds)),
    examples: ['heddle threads ledger session --kind path', 'heddle threads ledger session --limit 50 --json'],
    load: ({ threads }, { kind, limit, cursor }: LedgerOptions, thread: string) =>
      threads.ledger(thread, given({ kind, limit, cursor })),
    items: 'details',
    none: () => 'no details yet',
    columns: [
      { title: 'line', count: ({ line }) => line },
      { title: 'kind', text: ({ kind }) => kind },
      { title: 'state', text: ({ state }) => state ?? '' },
      { title: 'text', text: ({ text }) => oneLine(text, TEXT_CHARACTERS) },
      { title: 'reference', text: ({ references }) => references[0] ?? '' },
    ],
  })
}
