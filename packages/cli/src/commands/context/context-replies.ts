import { resolve } from 'node:path'
import type { RequestContext } from '@heddle/contracts'
import { threadMessageParamsSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { optionValue } from '../../options/option-values.js'
import { momentOption, nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount, itemTable, type Line } from '../../output/table.js'
import { writeWholeFile } from '../../output/whole-file.js'
import { clientCommand } from '../declared.js'

interface OfOptions extends CommonOptions, UrlOptions {
  readonly thread?: string
}

interface ExportOptions extends CommonOptions, UrlOptions {
  readonly agent: string
  readonly since?: string
  readonly out?: string
}

const messageOption = optionValue(
  'message',
  threadMessageParamsSchema.shape.message,
  'Give an id or a reference that "heddle threads history" printed.',
)

export function registerContextReplies(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'of',
    description: 'show the request context of a reply: the items that its context showed, also after that expired',
    arguments: [['<message>', 'the id or reference of the reply', messageOption]],
    options: (command) =>
      command.option('--thread <name>', 'its thread (default: the only one with such a message)', nameOption('thread')),
    examples: ['heddle context of msg-1a2b3c4d', 'heddle context of msg-1a2b3c4d --thread session --json'],
    load: ({ messages }, { thread }: OfOptions, message: string) => messages.requestContext({ thread, message }),
    lines: requestContextLines,
  })

  const exporting = group
    .command('export')
    .description('write the request contexts of all replies of an agent as JSON lines, oldest first')
    .requiredOption('--agent <name>', 'the agent', nameOption('agent'))
    .option('--since <moment>', 'only contexts built since then: how long ago, such as 30d, or a time', sinceOption)
    .option('--out <file>', 'the file to write, replaced once the export is complete (default: standard output)')
  withCommonOptions(withUrlOption(exporting), [
    'heddle context export --agent coder --out contexts.jsonl',
    'heddle context export --agent coder --since 30d | jq .items',
  ]).action((options: ExportOptions) => exportContexts(context, options))
}

const sinceOption = momentOption('since')

async function exportContexts(context: CommandContext, { agent, since, out, ...common }: ExportOptions): Promise<void> {
  await withRemote(context, common, null, async ({ contexts }) => {
    const lines = contexts.exportOfReplies(agent, { since })
    if (out === undefined) return await context.printer.stream(lines)
    const file = resolve(context.cwd, out)
    let records = 0
    async function* counted() {
      for await (const line of lines) {
        if (line.startsWith('{"type":"requestContext"')) records++
        yield line
      }
    }
    const bytes = await writeWholeFile(file, counted(), { signal: context.signal })
    context.printer.result({ agent, file, records, bytes }, () => [
      `${formatCount(records)} request contexts of ${safeText(agent)}, ${formatCount(bytes)} bytes, in ${safeText(out)}`,
    ])
  })
}

function requestContextLines(record: RequestContext): Line[] {
  const { context, message, thread, agent, builtAt, agentVersion, tokensUsed, budget, sections, items } = record
  const used =
    tokensUsed === null || budget === null ? '' : ` · ${formatCount(tokensUsed)} of ${formatCount(budget)} tokens`
  return [
    `message ${message}`,
    `context ${context} · ${builtAt}`,
    `thread ${safeText(thread)} · agent ${safeText(agent)}${agentVersion === null ? '' : ` version ${agentVersion}`}${used}`,
    '',
    ...itemTable(sections, [
      { title: 'section', text: ({ name }) => name },
      { title: 'messages', count: ({ count }) => count },
      { title: 'tokens', count: ({ tokens }) => tokens },
    ]),
    '',
    ...(items.length === 0
      ? ['no items']
      : itemTable(items, [
          { title: 'type', text: ({ type }) => type },
          {
            title: 'name',
            text: ({ name, serverName }) => safeText(serverName === undefined ? name : `${serverName}.${name}`),
          },
          { title: 'include', text: ({ includeMode }) => includeMode },
          { title: 'score', text: ({ similarityScore }) => similarityScore?.toFixed(2) ?? '' },
          { title: 'level', text: ({ priorityLevel }) => priorityLevel?.toString().padStart(3, '0') ?? '' },
          {
            title: 'version',
            text: ({ version, isCurrent }) => (isCurrent ? `${version}` : `${version} (changed since)`),
          },
          { title: 'tokens', count: ({ tokens }) => tokens },
          { title: 'used', text: ({ isUsed }) => (isUsed ? 'yes' : '') },
          { title: 'says', text: ({ description }) => safeText(description ?? '') },
        ])),
  ]
}
