import { threadDetailsSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { optionValue } from '../../options/option-values.js'
import { nameOption } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { clientCommand } from '../declared.js'

interface SetOptions extends CommonOptions {
  readonly agent: string
  readonly title?: string
  readonly goal?: string
  readonly status?: string
}

export function registerThreadsSet(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'set',
    description: 'say what a thread is about and how it stands; it is made if it does not exist',
    arguments: [['<name>', 'the thread', nameOption('thread')]],
    options: (command) =>
      command
        .requiredOption(
          '--agent <name>',
          'the agent that it belongs to; made if it does not exist',
          nameOption('agent'),
        )
        .option('--title <text>', 'what people call it', detailOption('title'))
        .option('--goal <text>', 'what it is to reach', detailOption('goal'))
        .option(
          '--status <text>',
          "how it stands: every context of the agent's other threads says so",
          detailOption('status'),
        ),
    examples: [
      'heddle threads set session --agent coder --title "Fix the login" --status "writing tests"',
      'heddle threads set session --agent coder --status ""',
    ],
    notes: 'What is left out stays as it is; an empty text takes it away.',
    load: ({ threads }, { agent, title, goal, status }: SetOptions, name: string) =>
      threads.put(name, {
        agent,
        title: title === '' ? null : title,
        goal: goal === '' ? null : goal,
        status: status === '' ? null : status,
      }),
    lines: (thread) => [
      `thread ${safeText(thread.name)} · agent ${safeText(thread.agent)} · version ${thread.version}`,
      `title: ${safeText(thread.title ?? 'none')}`,
      `goal: ${safeText(thread.goal ?? 'none')}`,
      `status: ${safeText(thread.status ?? 'none')}`,
    ],
  })
}

/** An empty text stays one until it is sent: Commander has no options without a value that differ from absent ones. */
function detailOption(field: 'title' | 'goal' | 'status'): (text: string) => string {
  const hint = `Give a text, such as --${field} "...", or an empty one to take it away.`
  const checked = optionValue(field, threadDetailsSchema.shape[field].unwrap().unwrap(), hint)
  return (text) => (text === '' ? text : checked(text))
}
