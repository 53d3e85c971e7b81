import { idSchema, type Snapshot, snapshotRequestSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { optionValue } from '../../options/option-values.js'
import { cursorOption, limitOption, nameOption, withCommonOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { emptyLines, formatCount, type Line, moreLines, tableLines } from '../../output/table.js'

interface SaveOptions extends CommonOptions, UrlOptions {
  readonly agent: string
  readonly description?: string
}

interface HistoryOptions extends CommonOptions, UrlOptions {
  readonly agent: string
  readonly limit?: number
  readonly cursor?: string
}

const descriptionOption = optionValue(
  'description',
  snapshotRequestSchema.shape.description.unwrap(),
  'Say in a few words what the window is saved for, or leave --description out.',
)
const snapshotOption = optionValue('snapshot', idSchema, 'Give an id that "heddle context history" shows.')

/** `/context save`, `/context history`, `/context restore` (docs/chat.md). */
export function registerContextSnapshots(group: Command, context: CommandContext): void {
  const save = group
    .command('save')
    .description('save the window of all threads of an agent with a summary of them; nothing is cleared')
    .requiredOption('--agent <name>', 'the agent', nameOption('agent'))
    .option('--description <text>', 'what it is saved for', descriptionOption)
  withCommonOptions(withUrlOption(save), [
    'heddle context save --agent coder',
    'heddle context save --agent coder --description "Working on auth refactor" --json',
  ]).action((options: SaveOptions) => saveWindow(context, options))

  const history = group
    .command('history')
    .description('list the saved windows of an agent, newest first')
    .requiredOption('--agent <name>', 'the agent', nameOption('agent'))
    .option('--limit <count>', 'rows of a page (default 50)', limitOption)
    .addOption(cursorOption())
  withCommonOptions(withUrlOption(history), [
    'heddle context history --agent coder',
    'heddle context history --agent coder --limit 10 --json',
  ]).action((options: HistoryOptions) => showHistory(context, options))

  const restore = group
    .command('restore')
    .description('bring the messages of a saved window back into it; what it shows already stays as it is')
    .argument('<id>', 'the id that "context save" printed', snapshotOption)
  withCommonOptions(withUrlOption(restore), [
    'heddle context restore 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1',
    'heddle context restore 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1 --json',
  ]).action((id: string, options: CommonOptions & UrlOptions) => restoreWindow(context, id, options))
}

async function saveWindow(context: CommandContext, options: SaveOptions): Promise<void> {
  const { agent, description } = options
  await withRemote(context, options, { stages: ['assemble'] }, async (client) => {
    const request = { agent, ...(description !== undefined && { description }) }
    const saved = await client.snapshots.save(request, { signal: context.signal })
    context.printer.result(saved, () => [
      `snapshot ${saved.id}`,
      `${formatCount(saved.messageCount)} messages of ${formatCount(saved.threadCount)} threads of agent ${safeText(saved.agent)}, ${windowText(saved)}`,
      `summary: ${oneLine(saved.summary, SUMMARY_CHARACTERS)}`,
      ...(saved.summaryError === null
        ? []
        : [`why there is no summary: ${oneLine(saved.summaryError, SUMMARY_CHARACTERS)}`]),
      saved.store === 'files'
        ? `file: ${saved.fileName}, in the sessions folder of the worker that saved it`
        : 'kept in Postgres alone',
    ])
  })
}

const SUMMARY_CHARACTERS = 400
const EXCERPT_CHARACTERS = 60

function windowText({ windowStart, windowEnd }: Snapshot): string {
  return windowStart === null ? `until ${windowEnd}` : `${windowStart} to ${windowEnd}`
}

async function showHistory(context: CommandContext, options: HistoryOptions): Promise<void> {
  const { agent, limit, cursor } = options
  await withRemote(context, options, null, async (client) => {
    const page = await client.snapshots.history(agent, {
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    })
    context.printer.result(page, () =>
      page.items.length === 0
        ? emptyLines(
            cursor,
            'snapshots',
            `no snapshots of agent ${safeText(agent)} yet: heddle context save --agent ${safeText(agent)}`,
          )
        : [...historyLines(page.items), ...moreLines(page.nextCursor)],
    )
  })
}

function historyLines(snapshots: readonly Snapshot[]): Line[] {
  return tableLines(
    [
      { title: 'id' },
      { title: 'time' },
      { title: 'messages', align: 'right' },
      { title: 'description' },
      { title: 'summary' },
    ],
    snapshots.map((snapshot) => [
      snapshot.id,
      snapshot.timestamp,
      formatCount(snapshot.messageCount),
      oneLine(snapshot.description ?? '', EXCERPT_CHARACTERS),
      oneLine(snapshot.summary, EXCERPT_CHARACTERS),
    ]),
  )
}

async function restoreWindow(context: CommandContext, id: string, options: CommonOptions & UrlOptions): Promise<void> {
  await withRemote(context, options, { stages: ['ingest'] }, async (client) => {
    const restored = await client.snapshots.restore(id, { signal: context.signal })
    context.printer.result(restored, () => [
      `restored ${formatCount(restored.restored)} of ${formatCount(restored.messages)} messages of agent ${safeText(restored.agent)}`,
      ...(restored.present > 0 ? [`${formatCount(restored.present)} are in the window anyway`] : []),
      ...(restored.erased > 0
        ? [`${formatCount(restored.erased)} were erased with their threads since, and cannot be brought back`]
        : []),
      `threads: ${restored.threads.map((thread) => safeText(thread)).join(', ') || 'none is left'}`,
    ])
  })
}
