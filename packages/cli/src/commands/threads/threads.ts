import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { given, nameOption, type OrderOptions, type PageOptions, withOrderOption } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { registerThreadsErase } from '../admin/erase.js'
import { clientCommand, listCommand } from '../declared.js'
import { messageColumns } from '../messages/message-columns.js'
import { threadLines } from './thread-view.js'
import { registerThreadsFork } from './threads-fork.js'
import { registerThreadsLedger } from './threads-ledger.js'
import { registerThreadsProcesses } from './threads-processes.js'
import { registerThreadsSet } from './threads-set.js'
import { registerThreadsTools } from './threads-tools.js'
import { registerThreadsTransfer } from './threads-transfer.js'

interface ListOptions extends PageOptions {
  readonly agent?: string
  readonly search?: string
}

export function registerThreads(program: Command, context: CommandContext): void {
  const group = program.command('threads').description('list, show, change, fork, export, import and erase threads')
  listCommand(group, context, {
    name: 'list',
    description: 'list the threads of the project',
    options: (command) =>
      command
        .option('--agent <name>', 'only threads of this agent', nameOption('agent'))
        .option('--search <text>', 'only threads whose name or title contains this text', nameOption('search')),
    examples: ['heddle threads list', 'heddle threads list --agent coder --json'],
    async load({ threads }, { agent, search, limit, cursor }: ListOptions) {
      const page = await threads.list(given({ agent, search, limit, cursor }))
      const items = page.items.map((thread) => ({
        name: thread.name,
        code: thread.code,
        agent: thread.agent,
        title: thread.title,
        status: thread.status,
        messages: thread.messages,
        tokens: thread.tokensEstimate,
        lastMessageAt: thread.lastMessageAt,
        lastError: thread.lastError,
      }))
      return { items, nextCursor: page.nextCursor }
    },
    items: 'threads',
    none({ agent, search }) {
      if (search !== undefined) return `no thread has "${safeText(search)}" in its name or title`
      const of = agent === undefined ? '' : ` of agent "${safeText(agent)}"`
      return `no threads${of} yet: heddle import FILE --agent NAME creates one`
    },
    columns: [
      { title: 'thread', text: ({ name }) => name },
      { title: 'agent', text: ({ agent }) => agent },
      { title: 'messages', count: ({ messages }) => messages },
      { title: 'tokens', count: ({ tokens }) => tokens },
    ],
  })
  clientCommand(group, context, {
    name: 'show',
    description: 'show what is stored for a thread',
    arguments: [['<name>', 'the thread', nameOption('thread')]],
    examples: ['heddle threads show session', 'heddle threads show session --json'],
    load: ({ threads }, _: CommonOptions, name: string) => threads.get(name),
    lines: threadLines,
  })
  listCommand(group, context, {
    name: 'history',
    description: 'page through all messages of a thread, including those that contexts no longer show',
    arguments: [['<name>', 'the thread', nameOption('thread')]],
    options: withOrderOption,
    examples: ['heddle threads history session', 'heddle threads history session --order desc --limit 20 --json'],
    load: ({ messages }, { limit, cursor, order }: OrderOptions, thread: string) =>
      messages.list({ thread, order, limit, cursor }),
    items: 'messages',
    none: () => 'no messages yet',
    columns: messageColumns,
  })
  clientCommand(group, context, {
    name: 'resume-text',
    description:
      'print the text with which an agent goes on in a thread: constraints, last requests, next steps, files',
    arguments: [['<name>', 'the thread', nameOption('thread')]],
    examples: ['heddle threads resume-text session', 'heddle threads resume-text session --json'],
    load: ({ threads }, _: CommonOptions, thread: string) => threads.resumeText(thread),
    lines: ({ text }) => (text === '' ? ['nothing was said in this thread yet'] : text.split('\n').map(safeText)),
  })
  registerThreadsTools(group, context)
  registerThreadsSet(group, context)
  registerThreadsFork(group, context)
  registerThreadsLedger(group, context)
  registerThreadsProcesses(group, context)
  registerThreadsErase(group, context)
  registerThreadsTransfer(group, context)
}
