import type { AgentItem, ThreadItemEntry } from '@heddle/client/interface'
import { type ItemKey, type ItemType, notFound } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { wholeNumber } from '../../options/option-values.js'
import { given, nameOption, type PageOptions } from '../../options/options.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { clientCommand, listCommand } from '../declared.js'
import { registerItemsChange } from './items-change.js'
import { itemTypeOption, keyOf, labelOf, type OwnerOptions, ownerOf, withItem, withOwner } from './items-owner.js'
import { registerItemsStats } from './items-stats.js'
import { registerItemsSync } from './items-sync.js'

interface ListOptions extends OwnerOptions, PageOptions {
  readonly type?: ItemType
}

interface ShowOptions extends OwnerOptions {
  readonly itemVersion?: number
}

type Shown = AgentItem | ThreadItemEntry

const versionOption = wholeNumber('item-version', 1, 1_000_000_000, 'Give a version from a receipt.')

export function registerItems(program: Command, context: CommandContext): void {
  const group = program.command('items').description('manage the rules, references and tools that contexts may include')
  listCommand(group, context, {
    name: 'list',
    description: 'list the items of an agent or of a thread',
    options: (command) =>
      withOwner(command)
        .option('--type <type>', 'rule, reference or tool', itemTypeOption)
        .option('--server <name>', 'only tools of this MCP server', nameOption('server')),
    examples: ['heddle items list --agent coder', 'heddle items list --thread session --json'],
    check: ownerOf,
    async load({ items }, options: ListOptions): Promise<{ items: readonly Shown[]; nextCursor: string | null }> {
      const { type, server: serverName, limit, cursor } = options
      const owner = ownerOf(options)
      if ('agent' in owner) return await items.list(owner.agent, given({ type, serverName, limit, cursor }))
      const fits = (item: Shown) =>
        (type === undefined || item.type === type) && (serverName === undefined || item.serverName === serverName)
      return { items: (await items.listOfThread(owner.thread)).filter(fits), nextCursor: null }
    },
    items: 'items',
    none: () => 'no items yet: heddle items set rule NAME --agent AGENT --text TEXT creates one',
    columns: [
      { title: 'type', text: ({ type }) => type },
      { title: 'name', text: labelOf },
      { title: 'include', text: ({ includeMode }) => includeMode },
      { title: 'level', text: ({ priorityLevel: level }) => (level === null ? '' : String(level).padStart(3, '0')) },
      { title: 'version', text: ({ version }) => String(version) },
      { title: 'says', text: ({ description, text }) => oneLine(description ?? text, 60) },
    ],
  })
  clientCommand(group, context, {
    name: 'show',
    description: 'show an item and its text',
    options: (command) =>
      withItem(command).option(
        '--item-version <number>',
        "an older version of an agent's item, even of one that was removed",
        versionOption,
      ),
    examples: [
      'heddle items show rule style --agent coder',
      'heddle items show tool read_file --server files --agent coder --json',
    ],
    check: ownerOf,
    async load({ items }, options: ShowOptions, type: ItemType, name: string): Promise<Shown> {
      const owner = ownerOf(options)
      const key = keyOf(type, name, options)
      if ('agent' in owner) return await items.get(owner.agent, key, given({ version: options.itemVersion }))
      const item = (await items.listOfThread(owner.thread)).find((each) => isSame(each, key))
      if (item !== undefined) return item
      throw notFound(type, name, 'the thread does not have it: see `heddle items list --thread`')
    },
    lines: (item) => [
      `${item.type} ${safeText(labelOf(item))} · version ${item.version} · ${item.includeMode}`,
      ...(item.description === null ? [] : [`description: ${oneLine(item.description, 160)}`]),
      ...(item.inputSchema === null ? [] : [`input: ${safeText(JSON.stringify(item.inputSchema))}`]),
      ...(item.text === '' ? [] : ['', ...item.text.split('\n').map(safeText)]),
    ],
  })
  registerItemsChange(group, context)
  registerItemsStats(group, context)
  registerItemsSync(group, context)
}

function isSame(item: Shown, { type, name, serverName }: ItemKey): boolean {
  return item.type === type && item.name === name && (serverName === undefined || item.serverName === serverName)
}
