import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { cursorOption, limitOption, nameOption, withCommonOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { emptyLines, formatCount, moreLines, tableLines } from '../../output/table.js'
import { registerAgentsErase } from '../admin/erase.js'
import { registerAgentsSet } from './agents-set.js'

interface ListOptions extends CommonOptions, UrlOptions {
  readonly limit?: number
  readonly cursor?: string
}

export function registerAgents(program: Command, context: CommandContext): void {
  const group = program.command('agents').description('list agents, show one, make and change them')

  const list = group
    .command('list')
    .description('list the agents of the project')
    .option('--limit <count>', 'rows of a page', limitOption)
    .addOption(cursorOption())
  withCommonOptions(withUrlOption(list), ['heddle agents list', 'heddle agents list --json']).action(
    (options: ListOptions) => listAgents(context, options),
  )

  const show = group
    .command('show')
    .description('show an agent: prompt, docs, settings')
    .argument('<name>', 'the agent', nameOption('agent'))
  withCommonOptions(withUrlOption(show), ['heddle agents show coder', 'heddle agents show coder --json']).action(
    (name: string, options: CommonOptions & UrlOptions) => showAgent(context, name, options),
  )
  registerAgentsSet(group, context)
  registerAgentsErase(group, context)
}

async function listAgents(context: CommandContext, options: ListOptions): Promise<void> {
  const { limit, cursor } = options
  await withRemote(context, options, null, async (client) => {
    const page = await client.agents.list({
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    })
    context.printer.result(page, () => {
      if (page.items.length === 0) {
        return emptyLines(
          cursor,
          'agents',
          'no agents yet: heddle agents set NAME, or heddle import FILE --agent NAME, makes one',
        )
      }
      return [
        ...tableLines(
          [{ title: 'agent' }, { title: 'version', align: 'right' }, { title: 'threads', align: 'right' }],
          page.items.map((agent) => [safeText(agent.name), formatCount(agent.version), formatCount(agent.threads)]),
        ),
        ...moreLines(page.nextCursor),
      ]
    })
  })
}

async function showAgent(context: CommandContext, name: string, options: CommonOptions & UrlOptions): Promise<void> {
  await withRemote(context, options, null, async (client) => {
    const agent = await client.agents.get(name)
    context.printer.result(agent, () => [
      `agent ${safeText(agent.name)} · version ${agent.version}`,
      `system prompt: ${agent.systemPrompt === '' ? 'none' : oneLine(agent.systemPrompt, 160)}`,
      `docs: ${agent.docs.length === 0 ? 'none' : agent.docs.map((doc) => safeText(doc.name)).join(', ')}`,
      `settings: ${safeText(JSON.stringify(agent.settings))}`,
    ])
  })
}
