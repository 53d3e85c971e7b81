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
    description: 'set the title, goal and status of a thread, which is created if it does not exist',
    arguments: [['<name>', 'the thread', nameOption('thread')]],
    options: (command) =>
      command
        .requiredOption(
          '--agent <name>',
          'the agent that it belongs to; created if it does not exist',
          nameOption('agent'),
        )
        .option('--title <text>', 'title for people', detailOption('title'))
        .option('--goal <text>', 'what the thread should achieve', detailOption('goal'))
        .option(
          '--status <text>',
          "status line, which the contexts of the agent's other threads show",
          detailOption('status'),
        ),
    examples: [
      'heddle threads set session --agent coder --title "Fix the login" --status "writing tests"',
      'heddle threads set session --agent coder --status ""',
    ],
    notes: 'An option that is not given changes nothing; an empty text removes the value.',
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

/** An empty text is kept until it is sent: Commander cannot tell an option with a null value from an absent one. */
function detailOption(field: 'title' | 'goal' | 'status'): (text: string) => string {
  const hint = `Give a text, such as --${field} "...", or an empty one to remove it.`
  const checked = optionValue(field, threadDetailsSchema.shape[field].unwrap().unwrap(), hint)
  return (text) => (text === '' ? text : checked(text))
}
