import type { RemoteClient } from '@heddle/client/http'
import type { ThreadProcess } from '@heddle/client/interface'
import { processBodySchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { optionValue } from '../../options/option-values.js'
import { given, nameOption, type PageOptions, withCommonOptions, withPageOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { itemTable, moreLines } from '../../output/table.js'

interface ProcessesOptions extends CommonOptions, UrlOptions, PageOptions {
  readonly set?: string
  readonly end?: string
  readonly status?: string
}

const statusOption = optionValue(
  'status',
  processBodySchema.shape.status.unwrap(),
  'Give a status line, such as --status "3 of 10".',
)

export function registerThreadsProcesses(group: Command, context: CommandContext): void {
  const processes = group
    .command('processes')
    .description('list the processes of a thread, or report the status of one')
    .argument('<name>', 'the thread', nameOption('thread'))
    .option('--set <process>', 'a running process; its first report needs --status', nameOption('set'))
    .option('--end <process>', 'a process that has ended', nameOption('end'))
    .option('--status <text>', 'its status line, which all contexts of the agent show while it runs', statusOption)
  withCommonOptions(withUrlOption(withPageOptions(processes)), [
    'heddle threads processes session',
    'heddle threads processes session --set tests --status "3 of 10"',
    'heddle threads processes session --end tests --json',
  ]).action((name: string, options: ProcessesOptions) => workOnProcesses(context, name, options))
}

async function workOnProcesses(context: CommandContext, thread: string, options: ProcessesOptions): Promise<void> {
  const { set, end, status } = options
  if (set !== undefined && end !== undefined) {
    throw new UsageError('end', 'cannot be combined with --set', end, 'Set one process or end one, not both at once.')
  }
  const name = set ?? end
  if (name === undefined && status !== undefined) {
    throw new UsageError('status', 'needs --set or --end', status, 'Name the process with --set NAME or --end NAME.')
  }
  await withRemote(context, options, null, async (client) => {
    if (name === undefined) return await showProcesses(context, client, thread, options)
    const body = { ended: end !== undefined, status }
    const process = await client.processes.put(thread, name, body)
    context.printer.result(process, () => [`process ${safeText(name)}: ${stateText(process)}`])
  })
}

async function showProcesses(
  context: CommandContext,
  client: RemoteClient,
  thread: string,
  { limit, cursor }: ProcessesOptions,
): Promise<void> {
  const page = await client.processes.list(thread, given({ limit, cursor }))
  context.printer.result(page, () => {
    if (page.items.length === 0) return ['no processes']
    const columns = [
      { title: 'process', text: ({ name }: ThreadProcess) => name },
      { title: 'stands', text: stateText },
    ]
    return [...itemTable(page.items, columns), ...moreLines(page.nextCursor)]
  })
}

function stateText({ isRunning, status }: ThreadProcess): string {
  return `${isRunning ? 'runs' : 'ended'} · ${oneLine(status, 120)}`
}
