import type { ItemKey, ItemType } from '@heddle/contracts'
import { itemTypeSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommonOptions } from '../../connect/context.js'
import type { UrlOptions } from '../../connect/with-remote.js'
import { optionValue } from '../../options/option-values.js'
import { nameOption } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'

/** The owner of the items that a command works on: an agent or a thread. */
export interface OwnerOptions extends CommonOptions, UrlOptions {
  readonly agent?: string
  readonly thread?: string
  readonly server?: string
}

export type Owner = { readonly agent: string } | { readonly thread: string }

export const itemTypeOption = optionValue('type', itemTypeSchema, 'Choose rule, reference or tool.')

/** Adds the arguments that name an item, and the options that name its owner. */
export function withItem(command: Command): Command {
  return withOwner(
    command
      .argument('<type>', 'rule, reference or tool', itemTypeOption)
      .argument('<name>', 'the item', nameOption('name')),
  ).option('--server <name>', 'the MCP server of a tool', nameOption('server'))
}

export function withOwner(command: Command): Command {
  return command
    .option('--agent <name>', 'the agent that owns the items', nameOption('agent'))
    .option('--thread <name>', 'the thread that the items were added to', nameOption('thread'))
}

/** @throws UsageError unless exactly one of `--agent` and `--thread` is given */
export function ownerOf({ agent, thread }: OwnerOptions): Owner {
  if (agent !== undefined && thread !== undefined)
    throw new UsageError(
      'thread',
      'cannot be combined with --agent',
      thread,
      'A thread belongs to one agent: give --thread alone.',
    )
  if (agent !== undefined) return { agent }
  if (thread !== undefined) return { thread }
  throw new UsageError('agent', 'is missing', 'nothing', 'Name an agent with --agent, or a thread with --thread.')
}

export function keyOf(type: ItemType, name: string, { server }: OwnerOptions): ItemKey {
  return { type, name, serverName: server }
}

/** A tool is shown with its server, as MCP hosts do. */
export function labelOf({ name, serverName }: ItemKey): string {
  return serverName === undefined ? name : `${serverName}.${name}`
}
