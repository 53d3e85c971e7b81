import { sourceIdSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { optionValue } from '../../options/option-values.js'
import { nameOption, type PageOptions } from '../../options/options.js'
import { registerMessagesErase } from '../admin/erase.js'
import { listCommand } from '../declared.js'
import { threadMessageColumns } from './message-columns.js'

interface FindOptions extends PageOptions {
  readonly agent?: string
  readonly thread?: string
}

const sourceIdOption = optionValue('source-id', sourceIdSchema, 'Give the id as the message was appended with it.')

export function registerMessages(program: Command, context: CommandContext): void {
  const group = program
    .command('messages')
    .description('find messages by their ids at their source, and erase messages')
  listCommand(group, context, {
    name: 'find',
    description:
      'find the messages with an id at their source, such as that of a chat: a reply belongs to their thread',
    arguments: [['<source-id>', 'the id at the source', sourceIdOption]],
    options: (command) =>
      command
        .option('--agent <name>', 'only threads of this agent', nameOption('agent'))
        .option('--thread <name>', 'only this thread', nameOption('thread')),
    examples: ['heddle messages find 1184092', 'heddle messages find 1184092 --agent coder --json'],
    load: ({ messages }, { agent, thread, limit, cursor }: FindOptions, sourceId: string) =>
      messages.find({ sourceId, agent, thread, limit, cursor }),
    items: 'messages',
    none: () => 'no message has this id at its source',
    columns: threadMessageColumns,
  })
  registerMessagesErase(group, context)
}
