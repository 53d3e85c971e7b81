import { idSchema, type Snapshot, snapshotRequestSchema, timeSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { optionValue } from '../../options/option-values.js'
import { given, nameOption, type PageOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { clientCommand, listCommand } from '../declared.js'

interface AgentOptions extends CommonOptions {
  readonly agent: string
}

const timeOption = optionValue(
  'cleared-at',
  timeSchema,
  'Give a time with its zone, such as --cleared-at 2026-02-12T14:30:00Z, or leave it out for now.',
)
const descriptionOption = optionValue(
  'description',
  snapshotRequestSchema.shape.description.unwrap(),
  'Say in a few words what the window is saved for, or leave --description out.',
)
const snapshotOption = optionValue('snapshot', idSchema, 'Give an id that "heddle context history" shows.')

const SUMMARY_CHARACTERS = 400
const EXCERPT_CHARACTERS = 60

const withAgent = (command: Command) => command.requiredOption('--agent <name>', 'the agent', nameOption('agent'))

/** What begins, saves and restores the windows of an agent: `/context clear` and its like (docs/chat.md). */
export function registerContextWindows(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'clear',
    description: 'begin the windows of all threads of an agent anew; nothing is deleted',
    options: (command) =>
      withAgent(command).option('--cleared-at <time>', 'when it was cleared, where that was before now', timeOption),
    examples: [
      'heddle context clear --agent coder',
      'heddle context clear --agent coder --cleared-at 2026-02-12T14:30:00Z --json',
    ],
    load: ({ agents }, { agent, clearedAt }: AgentOptions & { readonly clearedAt?: string }) =>
      agents.clear(agent, { clearedAt }),
    lines: ({ agent, clearedAt, threads }) => [
      `cleared agent ${safeText(agent)}: its window begins after ${clearedAt} (threads with messages before it: ${formatCount(threads)})`,
      'nothing was deleted: heddle threads history THREAD shows what there was',
    ],
  })
  clientCommand(group, context, {
    name: 'save',
    description: 'save the window of all threads of an agent with a summary of them; nothing is cleared',
    options: (command) => withAgent(command).option('--description <text>', 'what it is saved for', descriptionOption),
    examples: [
      'heddle context save --agent coder',
      'heddle context save --agent coder --description "Working on auth refactor" --json',
    ],
    needs: { stages: ['assemble'] },
    load: ({ snapshots }, { agent, description }: AgentOptions & { readonly description?: string }) =>
      snapshots.save({ agent, description }, { signal: context.signal }),
    lines: savedLines,
  })
  listCommand(group, context, {
    name: 'history',
    description: 'list the saved windows of an agent, newest first',
    options: withAgent,
    examples: ['heddle context history --agent coder', 'heddle context history --agent coder --limit 10 --json'],
    load: ({ snapshots }, { agent, limit, cursor }: AgentOptions & PageOptions) =>
      snapshots.history(agent, given({ limit, cursor })),
    items: 'snapshots',
    none: ({ agent }) => `no snapshots of agent ${safeText(agent)} yet: heddle context save --agent ${safeText(agent)}`,
    columns: [
      { title: 'id', text: ({ id }) => id },
      { title: 'time', text: ({ timestamp }) => timestamp },
      { title: 'messages', count: ({ messageCount }) => messageCount },
      { title: 'description', text: ({ description }) => oneLine(description ?? '', EXCERPT_CHARACTERS) },
      { title: 'summary', text: ({ summary }) => oneLine(summary, EXCERPT_CHARACTERS) },
    ],
  })
  clientCommand(group, context, {
    name: 'restore',
    description: 'bring the messages of a saved window back into it; what it shows already stays as it is',
    arguments: [['<id>', 'the id that "context save" printed', snapshotOption]],
    examples: [
      'heddle context restore 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1',
      'heddle context restore 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1 --json',
    ],
    needs: { stages: ['ingest'] },
    load: ({ snapshots }, _: CommonOptions, id: string) => snapshots.restore(id, { signal: context.signal }),
    lines: ({ restored, messages, agent, present, erased, threads }) => [
      `restored ${formatCount(restored)} of ${formatCount(messages)} messages of agent ${safeText(agent)}`,
      ...(present > 0 ? [`${formatCount(present)} are in the window anyway`] : []),
      ...(erased > 0
        ? [`${formatCount(erased)} were erased with their threads since, and cannot be brought back`]
        : []),
      `threads: ${threads.map((thread) => safeText(thread)).join(', ') || 'none is left'}`,
    ],
  })
}

function savedLines(saved: Snapshot): string[] {
  const { id, agent, messageCount, threadCount, windowStart, windowEnd, summary, summaryError, store, fileName } = saved
  const window = windowStart === null ? `until ${windowEnd}` : `${windowStart} to ${windowEnd}`
  return [
    `snapshot ${id}`,
    `${formatCount(messageCount)} messages of ${formatCount(threadCount)} threads of agent ${safeText(agent)}, ${window}`,
    `summary: ${oneLine(summary, SUMMARY_CHARACTERS)}`,
    ...(summaryError === null ? [] : [`why there is no summary: ${oneLine(summaryError, SUMMARY_CHARACTERS)}`]),
    store === 'files'
      ? `file: ${fileName}, in the sessions folder of the worker that saved it`
      : 'kept in Postgres alone',
  ]
}
