import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { cursorOption, limitOption, nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { emptyLines, formatCount, moreLines, tableLines } from '../../output/table.js'
import { registerThreadsErase } from '../admin/erase.js'
import { threadLines } from './thread-view.js'
import { registerThreadsExport } from './threads-export.js'
import { registerThreadsHistory } from './threads-history.js'
import { registerThreadsImport } from './threads-import.js'
import { registerThreadsProcesses } from './threads-processes.js'
import { registerThreadsSet } from './threads-set.js'

interface ListOptions extends CommonOptions, UrlOptions {
  readonly agent?: string
  readonly limit?: number
  readonly cursor?: string
}

export function registerThreads(program: Command, context: CommandContext): void {
  const group = program.command('threads').description('list threads, show one and its history, and say how it stands')

  const list = group
    .command('list')
    .description('list the threads of the project')
    .option('--agent <name>', 'only those of an agent', nameOption('agent'))
    .option('--limit <count>', 'rows of a page', limitOption)
    .addOption(cursorOption())
  withCommonOptions(withUrlOption(list), ['heddle threads list', 'heddle threads list --agent coder --json']).action(
    (options: ListOptions) => listThreads(context, options),
  )

  const show = group
    .command('show')
    .description('show what is stored of a thread')
    .argument('<name>', 'the thread', nameOption('thread'))
  withCommonOptions(withUrlOption(show), ['heddle threads show session', 'heddle threads show session --json']).action(
    (name: string, options: CommonOptions & UrlOptions) => showThread(context, name, options),
  )

  registerThreadsHistory(group, context)
  registerThreadsSet(group, context)
  registerThreadsProcesses(group, context)
  registerThreadsErase(group, context)
  registerThreadsExport(group, context)
  registerThreadsImport(group, context)
}

async function listThreads(context: CommandContext, options: ListOptions): Promise<void> {
  const { agent, limit, cursor } = options
  await withRemote(context, options, null, async (client) => {
    const page = await client.threads.list({
      ...(agent !== undefined && { agent }),
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    })
    const items = page.items.map((thread) => ({
      name: thread.name,
      code: thread.code,
      agent: thread.agentName,
      title: thread.title,
      status: thread.status,
      messages: thread.messages,
      tokens: thread.tokensEstimate,
      lastMessageAt: thread.lastMessageAtMs === null ? null : new Date(thread.lastMessageAtMs).toISOString(),
      lastError: thread.lastError,
    }))
    context.printer.result({ items, nextCursor: page.nextCursor }, () => {
      if (items.length === 0) return emptyLines(cursor, 'threads', noThreads(agent))
      const rows = items.map((thread) => [
        safeText(thread.name),
        safeText(thread.agent),
        formatCount(thread.messages),
        formatCount(thread.tokens),
      ])
      return [
        ...tableLines(
          [
            { title: 'thread' },
            { title: 'agent' },
            { title: 'messages', align: 'right' },
            { title: 'tokens', align: 'right' },
          ],
          rows,
        ),
        ...moreLines(page.nextCursor),
      ]
    })
  })
}

function noThreads(agent: string | undefined): string {
  const of = agent === undefined ? '' : ` of agent "${safeText(agent)}"`
  return `no threads${of} yet: heddle import FILE --agent NAME brings one in`
}

async function showThread(context: CommandContext, name: string, options: CommonOptions & UrlOptions): Promise<void> {
  await withRemote(context, options, null, async (client) => {
    const thread = await client.threads.get(name)
    context.printer.result(thread, () => threadLines(thread))
  })
}
