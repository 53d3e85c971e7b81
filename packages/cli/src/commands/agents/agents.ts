import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import {
  given,
  momentOption,
  nameOption,
  type OrderOptions,
  type PageOptions,
  withOrderOption,
} from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { registerAgentsErase } from '../admin/erase.js'
import { clientCommand, listCommand } from '../declared.js'
import { threadMessageColumns } from '../messages/message-columns.js'
import { registerAgentsSet } from './agents-set.js'

interface HistoryOptions extends OrderOptions {
  readonly since?: string
  readonly until?: string
}

export function registerAgents(program: Command, context: CommandContext): void {
  const group = program.command('agents').description('list, show, create, change and erase agents')
  listCommand(group, context, {
    name: 'list',
    description: 'list the agents of the project',
    examples: ['heddle agents list', 'heddle agents list --json'],
    load: ({ agents }, { limit, cursor }: PageOptions) => agents.list(given({ limit, cursor })),
    items: 'agents',
    none: () => 'no agents yet: heddle agents set NAME, or heddle import FILE --agent NAME, creates one',
    columns: [
      { title: 'agent', text: ({ name }) => name },
      { title: 'version', count: ({ version }) => version },
      { title: 'threads', count: ({ threads }) => threads },
    ],
  })
  clientCommand(group, context, {
    name: 'show',
    description: 'show an agent: prompt, docs, settings',
    arguments: [['<name>', 'the agent', nameOption('agent')]],
    examples: ['heddle agents show coder', 'heddle agents show coder --json'],
    load: ({ agents }, _: CommonOptions, name: string) => agents.get(name),
    lines: (agent) => [
      `agent ${safeText(agent.name)} · version ${agent.version}`,
      `system prompt: ${agent.systemPrompt === '' ? 'none' : oneLine(agent.systemPrompt, 160)}`,
      `docs: ${agent.docs.length === 0 ? 'none' : agent.docs.map((doc) => safeText(doc.name)).join(', ')}`,
      `settings: ${safeText(JSON.stringify(agent.settings))}`,
    ],
  })
  listCommand(group, context, {
    name: 'history',
    description: 'page through all messages of all threads of an agent, including those that contexts no longer show',
    arguments: [['<name>', 'the agent', nameOption('agent')]],
    options: (command) =>
      withOrderOption(command)
        .option('--since <moment>', 'messages from this moment on: 1h, 7d, or a time', momentOption('since'))
        .option('--until <moment>', 'messages before this moment', momentOption('until')),
    examples: ['heddle agents history coder', 'heddle agents history coder --since 1d --order desc --json'],
    load: ({ messages }, { limit, cursor, order, since, until }: HistoryOptions, agent: string) =>
      messages.ofAgent({ agent, order, limit, cursor, since, until }),
    items: 'messages',
    none: () => 'no messages',
    columns: threadMessageColumns,
  })
  listCommand(group, context, {
    name: 'calibration',
    description: 'show how providers count the requests of an agent beside our own counts, by model',
    arguments: [['<name>', 'the agent', nameOption('agent')]],
    examples: ['heddle agents calibration coder', 'heddle agents calibration coder --json'],
    load: ({ agents }, _: CommonOptions & PageOptions, name: string) => agents.calibration(name),
    items: 'models',
    none: () => 'nothing learnt yet: 20 replies of one model are needed that name their context and report their usage',
    columns: [
      { title: 'model', text: ({ model }) => model },
      { title: 'provider', text: ({ provider }) => provider },
      { title: 'ratio', text: ({ ratio }) => ratio.toFixed(2) },
      { title: 'besides', count: ({ offset }) => offset },
      { title: 'margin', text: ({ margin }) => `${Math.round(100 * margin)} %` },
      { title: 'replies', count: ({ learnt }) => learnt.samples },
    ],
  })
  registerAgentsSet(group, context)
  registerAgentsErase(group, context)
}
