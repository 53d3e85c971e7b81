import type { Page, PinEntry } from '@heddle/client/interface'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { type MessageSelection, selectionOf, withMessageSelection } from '../../options/message-selection.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { countOf, itemTable } from '../../output/table.js'

interface PinOptions extends CommonOptions, UrlOptions, MessageSelection {
  readonly agent?: string
  readonly thread: string
  readonly until?: string
  readonly remove?: true
}

const TEXT_CHARACTERS_MAX = 80

export function registerContextPin(group: Command, context: CommandContext): void {
  const pin = group
    .command('pin')
    .description('keep stored messages verbatim in every context; without a message, list the pins of the thread')
    .option('--agent <name>', 'the agent of the thread', nameOption('agent'))
    .requiredOption('--thread <name>', 'the thread', nameOption('thread'))
  withMessageSelection(pin)
    .option('--until <time>', 'when the pin ends, such as 2027-01-01T00:00:00Z')
    .option('--remove', 'take the pin back')
  withCommonOptions(withUrlOption(pin), [
    'heddle context pin --thread session --message msg-1a2b3c4d',
    'heddle context pin --thread session --from 12 --to 13 --until 2027-01-01T00:00:00Z',
    'heddle context pin --thread session --message msg-1a2b3c4d --remove',
    'heddle context pin --thread session',
  ]).action((options: PinOptions) => changePins(context, options))
}

async function changePins(context: CommandContext, options: PinOptions): Promise<void> {
  const { thread, agent, message, from, to, until, remove } = options
  const isNamed = message !== undefined || from !== undefined || to !== undefined
  if (remove === true && until !== undefined)
    throw new UsageError('until', 'cannot be combined with --remove', until, 'Leave one of them out.')
  if (!isNamed && (remove === true || until !== undefined))
    throw new UsageError('message', 'is needed', undefined, 'Select a message, such as --message msg-1a2b3c4d.')
  const selected = { thread, agent, ...selectionOf(options) }
  // A changed pin wakes the prune stage; the list needs the store alone.
  await withRemote(context, options, isNamed ? { stages: [] } : null, async (client) => {
    if (!isNamed) return listPins(context, await client.pins.list({ thread }))
    const result = remove === true ? await client.pins.remove(selected) : await client.pins.set({ ...selected, until })
    context.printer.result(result, () => [
      `${countOf(result.messages, 'message')} of thread ${safeText(result.thread)} ${result.action}`,
      `${countOf(result.compactions, 'compaction')} will be redone`,
    ])
  })
}

function listPins({ printer }: CommandContext, pins: Page<PinEntry>): void {
  printer.result(pins, () => {
    if (pins.items.length === 0) return ['no pin was set on a stored message']
    return itemTable(pins.items, [
      { title: 'reference', text: ({ reference }) => reference },
      { title: 'seq', count: ({ seq }) => seq },
      { title: 'until', text: ({ until }) => until ?? '' },
      { title: 'text', text: ({ text }) => oneLine(text, TEXT_CHARACTERS_MAX) },
    ])
  })
}
