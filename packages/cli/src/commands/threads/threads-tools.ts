import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { nameOption, type PageOptions } from '../../options/options.js'
import { oneLine } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { listCommand } from '../declared.js'

const EXCERPT_CHARACTERS = 60

interface ToolsOptions extends CommonOptions, PageOptions {
  readonly context?: string
}

interface LargestOptions extends PageOptions {
  readonly tool?: string
}

/** The cost of the results of tools in a thread. */
export function registerThreadsTools(group: Command, context: CommandContext): void {
  listCommand(group, context, {
    name: 'tools',
    description: 'show the tools of a thread with the tokens of their results, the most tokens first',
    arguments: [['<name>', 'the thread', nameOption('thread')]],
    options: (command) => command.option('--context <id>', 'also the tokens of each that this context shows'),
    examples: ['heddle threads tools session', 'heddle threads tools session --json'],
    load: ({ messages }, { context }: ToolsOptions, thread: string) => messages.toolUse(thread, { context }),
    items: 'tools',
    none: () => 'no results of tools yet',
    columns: [
      { title: 'tool', text: ({ tool }) => tool ?? '(not named)' },
      { title: 'results', count: ({ results }) => results },
      { title: 'failed', count: ({ failed }) => failed },
      { title: 'tokens', count: ({ tokens }) => tokens },
      { title: 'largest', count: ({ largestTokens }) => largestTokens },
      { title: 'of them condensed', count: ({ condensedTokens }) => condensedTokens },
      { title: 'in the context', right: ({ shown }) => (shown === null ? '-' : formatCount(shown.tokens)) },
    ],
  })
  listCommand(group, context, {
    name: 'largest',
    description: 'list the messages of a thread, or the results of one tool, the largest first',
    arguments: [['<name>', 'the thread', nameOption('thread')]],
    options: (command) => command.option('--tool <name>', 'only results of this tool', nameOption('tool')),
    examples: ['heddle threads largest session --limit 10', 'heddle threads largest session --tool Read --json'],
    load: ({ messages }, { tool, limit, cursor }: LargestOptions, thread: string) =>
      messages.largest({ thread, tool, limit, cursor }),
    items: 'messages',
    none: ({ tool }) => (tool === undefined ? 'no messages yet' : 'no results of this tool'),
    columns: [
      { title: 'tokens', count: ({ tokens }) => tokens },
      { title: 'seq', count: ({ seq }) => seq },
      { title: 'reference', text: ({ reference }) => reference },
      { title: 'role', text: ({ role }) => role },
      { title: 'tool', text: ({ toolName }) => toolName ?? '' },
      { title: 'condensed', text: ({ condensed }) => (condensed ? 'yes' : '-') },
      { title: 'message', text: ({ excerpt }) => oneLine(excerpt, EXCERPT_CHARACTERS) },
    ],
  })
}
