import { type Snapshot, snapshotRequestSchema, timeSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { optionValue } from '../../options/option-values.js'
import { given, nameOption, type PageOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { clientCommand, listCommand } from '../declared.js'
import { registerContextRestore } from './context-restore.js'

interface AgentOptions extends CommonOptions {
  readonly agent: string
}

const timeOption = optionValue(
  'cleared-at',
  timeSchema,
  'Give a time with its zone, such as --cleared-at 2026-02-12T14:30:00Z, or omit it for the current time.',
)
const descriptionOption = optionValue(
  'description',
  snapshotRequestSchema.shape.description.unwrap(),
  'Describe in a few words what the window is saved for, or omit --description.',
)

const SUMMARY_CHARACTERS = 400
const EXCERPT_CHARACTERS = 60

const withAgent = (command: Command) => command.requiredOption('--agent <name>', 'the agent', nameOption('agent'))

/** Commands that clear, save and restore the windows of an agent; chats have the same as `/context clear` (docs/chat.md). */
export function registerContextWindows(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'clear',
    description: 'start new windows for all threads of an agent; earlier messages are hidden, not deleted',
    options: (command) =>
      withAgent(command).option('--cleared-at <time>', 'time of the clear, if it was before now', timeOption),
    examples: [
      'heddle context clear --agent coder',
      'heddle context clear --agent coder --cleared-at 2026-02-12T14:30:00Z --json',
    ],
    load: ({ agents }, { agent, clearedAt }: AgentOptions & { readonly clearedAt?: string }) =>
      agents.clear(agent, { clearedAt }),
    lines: ({ agent, clearedAt, threads }) => [
      `cleared agent ${safeText(agent)}: its window begins after ${clearedAt} (threads with messages before it: ${formatCount(threads)})`,
      'nothing was deleted: heddle threads history THREAD still shows every message',
    ],
  })
  clientCommand(group, context, {
    name: 'save',
    description: 'save the windows of all threads of an agent with a summary; nothing is cleared',
    options: (command) =>
      withAgent(command).option('--description <text>', 'what the snapshot is for', descriptionOption),
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
    description: 'list the snapshots of an agent, newest first',
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
  registerContextRestore(group, context)
}

function savedLines(saved: Snapshot): string[] {
  const { id, agent, messageCount, threadCount, windowStart, windowEnd, summary, summaryError, store, fileName } = saved
  const window = windowStart === null ? `until ${windowEnd}` : `${windowStart} to ${windowEnd}`
  return [
    `snapshot ${id}`,
    `${formatCount(messageCount)} messages of ${formatCount(threadCount)} threads of agent ${safeText(agent)}, ${window}`,
    `summary: ${oneLine(summary, SUMMARY_CHARACTERS)}`,
    ...(summaryError === null ? [] : [`no summary, because: ${oneLine(summaryError, SUMMARY_CHARACTERS)}`]),
    store === 'files'
      ? `file: ${fileName}, in the sessions folder of the worker that saved it`
      : 'stored in Postgres only',
  ]
}
