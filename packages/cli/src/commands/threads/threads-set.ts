import { threadDetailsSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { optionValue } from '../../options/option-values.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'

interface SetOptions extends CommonOptions, UrlOptions {
  readonly agent: string
  readonly title?: string
  readonly goal?: string
  readonly status?: string
}

export function registerThreadsSet(group: Command, context: CommandContext): void {
  const set = group
    .command('set')
    .description('say what a thread is about and how it stands; it is made if it does not exist')
    .argument('<name>', 'the thread', nameOption('thread'))
    .requiredOption('--agent <name>', 'the agent that it belongs to; made if it does not exist', nameOption('agent'))
    .option('--title <text>', 'what people call it', detailOption('title'))
    .option('--goal <text>', 'what it is to reach', detailOption('goal'))
    .option(
      '--status <text>',
      "how it stands: every context of the agent's other threads says so",
      detailOption('status'),
    )
  withCommonOptions(withUrlOption(set), [
    'heddle threads set session --agent coder --title "Fix the login" --status "writing tests"',
    'heddle threads set session --agent coder --status ""',
  ])
    .addHelpText('after', '\nWhat is left out stays as it is; an empty text takes it away.')
    .action((name: string, options: SetOptions) => setThread(context, name, options))
}

/** An empty text stays one until it is sent: Commander has no options without a value that differ from absent ones. */
function detailOption(field: 'title' | 'goal' | 'status'): (text: string) => string {
  const hint = `Give a text, such as --${field} "...", or an empty one to take it away.`
  const checked = optionValue(field, threadDetailsSchema.shape[field].unwrap().unwrap(), hint)
  return (text) => (text === '' ? text : checked(text))
}

async function setThread(context: CommandContext, name: string, options: SetOptions): Promise<void> {
  const { agent, title, goal, status } = options
  await withRemote(context, options, null, async (client) => {
    const thread = await client.threads.put(name, {
      agent,
      ...(title !== undefined && { title: title || null }),
      ...(goal !== undefined && { goal: goal || null }),
      ...(status !== undefined && { status: status || null }),
    })
    context.printer.result(thread, () => [
      `thread ${safeText(thread.name)} · agent ${safeText(thread.agent)} · version ${thread.version}`,
      `title: ${safeText(thread.title ?? 'none')}`,
      `goal: ${safeText(thread.goal ?? 'none')}`,
      `status: ${safeText(thread.status ?? 'none')}`,
    ])
  })
}
