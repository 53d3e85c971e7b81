import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type IncludeMode, type ItemKey, type ItemType, includeModeSchema, priorityLevelMax } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { withRemote, withUrlOption } from '../../connect/with-remote.js'
import { optionValue, wholeNumber } from '../../options/option-values.js'
import { withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { clientCommand } from '../declared.js'
import { keyOf, labelOf, type OwnerOptions, ownerOf, withItem } from './items-owner.js'
import { withoutLines } from './items-without.js'

interface SetOptions extends OwnerOptions {
  readonly text?: string
  readonly file?: string
  readonly description?: string
  readonly include?: IncludeMode
  readonly priority?: number
}

const includeOption = optionValue('include', includeModeSchema, 'Choose always, manual or agent.')
const priorityOption = wholeNumber('priority', 0, priorityLevelMax, 'Give a level; the lowest comes first.')

export function registerItemsChange(group: Command, context: CommandContext): void {
  const set = withItem(group.command('set').description('create or change an item of an agent, or add one to a thread'))
    .option('--text <text>', 'text of a rule or a reference')
    .option('--file <path>', 'file that contains the text')
    .option('--description <text>', 'what the item is about')
    .option('--include <mode>', 'when contexts include it: always, manual or agent', includeOption)
    .option('--priority <level>', 'position among items of its type, lowest first', priorityOption)
  withCommonOptions(withUrlOption(set), [
    'heddle items set rule style --agent coder --text "Write short sentences." --include always',
    'heddle items set reference api --agent coder --file api.md --include agent',
    'heddle items set rule style --thread session',
  ]).action((type: ItemType, name: string, options: SetOptions) =>
    setItem(context, keyOf(type, name, options), options),
  )

  clientCommand(group, context, {
    name: 'remove',
    description: 'remove an item from an agent or from a thread',
    options: withItem,
    examples: [
      'heddle items remove rule style --agent coder',
      'heddle items remove rule style --thread session --json',
    ],
    check: ownerOf,
    async load({ items }, options: OwnerOptions, type: ItemType, name: string) {
      const owner = ownerOf(options)
      const key = keyOf(type, name, options)
      if ('agent' in owner) await items.remove(owner.agent, key)
      else await items.removeFromThread(owner.thread, key)
      return { removed: true }
    },
    lines(_, { options, first: type, second: name }) {
      const owner = ownerOf(options)
      const from = 'agent' in owner ? `agent ${safeText(owner.agent)}` : `thread ${safeText(owner.thread)}`
      return [`${nameOf(keyOf(type, name, options))} was removed from ${from}`]
    },
  })
}

async function setItem(context: CommandContext, key: ItemKey, options: SetOptions): Promise<void> {
  const owner = ownerOf(options)
  const { text, file, description, include, priority } = options
  if (text !== undefined && file !== undefined)
    throw new UsageError('file', 'cannot be combined with --text', file, 'Give the text or its file, not both.')
  const body = {
    ...(text !== undefined && { text }),
    ...(description !== undefined && { description }),
    ...(include !== undefined && { include }),
    ...(priority !== undefined && { priorityLevel: priority }),
  }
  if ('thread' in owner) {
    if (file !== undefined || Object.keys(body).length > 0)
      throw new UsageError(
        'thread',
        'cannot change an item: a thread uses the items of its agent',
        owner.thread,
        'Change the item with --agent.',
      )
    return await withRemote(context, options, null, async (client) => {
      const added = await client.items.addToThread(owner.thread, key)
      context.printer.result({ added }, () => [
        `${nameOf(key)} ${added ? 'was added to' : 'was already in'} thread ${safeText(owner.thread)}`,
      ])
    })
  }
  const read = file === undefined ? {} : { text: await textOf(resolve(context.cwd, file)) }
  await withRemote(context, options, null, async (client) => {
    const item = await client.items.put(owner.agent, { ...key, ...body, ...read })
    context.printer.result(item, () => [
      `${nameOf(item)} · version ${item.version} · ${item.includeMode}`,
      ...withoutLines(item.threadsWithout, key),
    ])
  })
}

async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      'file',
      `cannot be read: ${error.code ?? error.message}`,
      path,
      'Give the path of a text file.',
    )
  })
}

function nameOf(key: ItemKey): string {
  return `${key.type} ${safeText(labelOf(key))}`
}
