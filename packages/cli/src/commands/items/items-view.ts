import type { AgentItem, ThreadItemEntry } from '@heddle/client/interface'
import { type ItemKey, type ItemType, notFound } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { withRemote, withUrlOption } from '../../connect/with-remote.js'
import { wholeNumber } from '../../options/option-values.js'
import { cursorOption, limitOption, nameOption, withCommonOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { emptyLines, moreLines, tableLines } from '../../output/table.js'
import { itemTypeOption, keyOf, type OwnerOptions, ownerOf, withItem, withOwner } from './items-owner.js'

interface ListOptions extends OwnerOptions {
  readonly type?: ItemType
  readonly limit?: number
  readonly cursor?: string
}

interface ShowOptions extends OwnerOptions {
  readonly itemVersion?: number
}

type Shown = AgentItem | ThreadItemEntry

const versionOption = wholeNumber('item-version', 1, 1_000_000_000, 'Give a version as a receipt names it.')

export function registerItemsView(group: Command, context: CommandContext): void {
  const list = withOwner(group.command('list').description('list the items of an agent, or those that a thread holds'))
    .option('--type <type>', 'rule, reference or tool', itemTypeOption)
    .option('--server <name>', 'tools of this MCP server', nameOption('server'))
    .option('--limit <count>', 'rows of a page', limitOption)
    .addOption(cursorOption())
  withCommonOptions(withUrlOption(list), [
    'heddle items list --agent coder',
    'heddle items list --thread session --json',
  ]).action((options: ListOptions) => listItems(context, options))
  const show = withItem(group.command('show').description('show an item with its text')).option(
    '--item-version <number>',
    'an older version of an item of an agent, also of one that was taken away',
    versionOption,
  )
  withCommonOptions(withUrlOption(show), [
    'heddle items show rule style --agent coder',
    'heddle items show tool read_file --server files --agent coder --json',
  ]).action((type: ItemType, name: string, options: ShowOptions) =>
    showItem(context, keyOf(type, name, options), options),
  )
}

async function listItems(context: CommandContext, options: ListOptions): Promise<void> {
  const owner = ownerOf(options)
  const { type, server, limit, cursor } = options
  await withRemote(context, options, null, async (client) => {
    const page =
      'thread' in owner
        ? { items: (await client.items.listOfThread(owner.thread)).filter(fits), nextCursor: null }
        : await client.items.list(owner.agent, {
            ...(type !== undefined && { type }),
            ...(server !== undefined && { serverName: server }),
            ...(limit !== undefined && { limit }),
            ...(cursor !== undefined && { cursor }),
          })
    context.printer.result(page, () => {
      if (page.items.length === 0)
        return emptyLines(
          cursor,
          'items',
          'no items yet: heddle items set rule NAME --agent AGENT --text TEXT makes one',
        )
      const rows = page.items.map((item: Shown) => [
        item.type,
        safeText(labelOf(item)),
        item.includeMode,
        item.priorityLevel === null ? '' : String(item.priorityLevel).padStart(3, '0'),
        String(item.version),
        oneLine(item.description ?? item.text, 60),
      ])
      const titles = ['type', 'name', 'include', 'level', 'version', 'says'].map((title) => ({ title }))
      return [...tableLines(titles, rows), ...moreLines(page.nextCursor)]
    })
  })

  function fits(item: Shown): boolean {
    return (type === undefined || item.type === type) && (server === undefined || item.serverName === server)
  }
}

async function showItem(context: CommandContext, key: ItemKey, options: ShowOptions): Promise<void> {
  const owner = ownerOf(options)
  const { itemVersion } = options
  await withRemote(context, options, null, async (client) => {
    const item: Shown | undefined =
      'thread' in owner
        ? (await client.items.listOfThread(owner.thread)).find((one) => isSame(one, key))
        : await client.items.get(owner.agent, key, itemVersion === undefined ? {} : { version: itemVersion })
    if (item === undefined)
      throw notFound(key.type, key.name, 'the thread does not hold it: see `heddle items list --thread`')
    context.printer.result(item, () => [
      `${item.type} ${safeText(labelOf(item))} · version ${item.version} · ${item.includeMode}`,
      ...(item.description === null ? [] : [`description: ${oneLine(item.description, 160)}`]),
      ...(item.inputSchema === null ? [] : [`input: ${safeText(JSON.stringify(item.inputSchema))}`]),
      ...(item.text === '' ? [] : ['', ...item.text.split('\n').map(safeText)]),
    ])
  })
}

function isSame(item: Shown, { type, name, serverName }: ItemKey): boolean {
  return item.type === type && item.name === name && (serverName === undefined || item.serverName === serverName)
}

export function labelOf({ name, serverName }: ItemKey): string {
  return serverName === undefined ? name : `${serverName}.${name}`
}
