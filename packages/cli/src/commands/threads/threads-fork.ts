import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { nameOption } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { clientCommand } from '../declared.js'

interface ForkOptions extends CommonOptions {
  readonly at?: string
  readonly name?: string
  readonly title?: string
}

/** `heddle threads fork` and `heddle threads compare`. */
export function registerThreadsFork(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'fork',
    description: 'create a thread that shares the messages of another one up to a moment, without copying them',
    arguments: [['<name>', 'the thread', nameOption('thread')]],
    options: (command) =>
      command
        .option('--at <message>', 'the last shared message: its id, its reference or its number (default: the latest)')
        .option('--name <name>', 'name of the new thread (default: that of the thread with -fork-)', nameOption('name'))
        .option('--title <text>', 'title of the new thread (default: that of the thread)'),
    examples: [
      'heddle threads fork session --name "another way"',
      'heddle threads fork session --at msg-1a2b3c4d --json',
    ],
    notes: 'Erasing a message erases it in all forks. A thread whose messages forks share is erased after them.',
    load: ({ threads }, { at, name, title }: ForkOptions, thread: string) =>
      threads.fork(thread, { at: at !== undefined && /^\d+$/.test(at) ? Number(at) : at, name, title }),
    lines: ({ thread, agent, forkedFrom, isNew, compactions }) => [
      `${isNew ? 'forked' : 'was forked before'}: thread ${safeText(thread)} · agent ${safeText(agent)}`,
      `shares messages up to ${formatCount(forkedFrom.seq)} with ${safeText(forkedFrom.thread)} · ${formatCount(compactions)} compactions taken over`,
    ],
  })
  clientCommand(group, context, {
    name: 'compare',
    description: 'show how far two threads share their messages, and how many each has besides',
    arguments: [
      ['<name>', 'the thread', nameOption('thread')],
      ['<other>', 'the other thread', nameOption('other')],
    ],
    examples: ['heddle threads compare session "another way"'],
    load: ({ threads }, _: CommonOptions, thread: string, other: string) => threads.compare(thread, other),
    lines: ({ thread, other, common, after }) => [
      common === null
        ? 'they share no messages'
        : `common: ${formatCount(common.messages)} messages, up to ${common.reference} (${formatCount(common.seq)})`,
      `after: ${formatCount(after.thread)} in ${safeText(thread)} · ${formatCount(after.other)} in ${safeText(other)}`,
    ],
  })
}
