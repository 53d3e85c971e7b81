import {
  type BlockKey,
  type BlockScope,
  blockNameSchema,
  limits,
  type MemoryBlock,
  putBlockSchema,
} from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommonOptions } from '../../connect/context.js'
import type { UrlOptions } from '../../connect/with-remote.js'
import { optionValue, wholeNumber } from '../../options/option-values.js'
import { nameOption } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount, type Line } from '../../output/table.js'

export interface OwnerOptions extends CommonOptions, UrlOptions {
  readonly agent?: string
  readonly thread?: string
}

export interface ChangeOptions extends OwnerOptions {
  readonly ifVersion?: number
}

/** The block that a command names: of a thread, an agent, or the project. */
export function keyOf(label: string, { agent, thread }: OwnerOptions): BlockKey {
  if (thread !== undefined && agent !== undefined)
    throw new UsageError(
      'agent',
      'cannot be combined with --thread',
      agent,
      'Name the owner of the block, one of them.',
    )
  const scope: BlockScope = thread !== undefined ? 'thread' : agent !== undefined ? 'agent' : 'project'
  return { scope, label, owner: thread ?? agent }
}

export function withOwner(command: Command): Command {
  return command
    .option('--agent <name>', 'a block of this agent', nameOption('agent'))
    .option('--thread <name>', 'a block of this thread; without an owner, of the project', nameOption('thread'))
}

export function withChange(command: Command): Command {
  return withOwner(command).option(
    '--if-version <number>',
    'refuse the change unless the block has this version; 0: unless there is no block',
    wholeNumber('if-version', 0, 1_000_000_000, 'Give the version that "heddle memory blocks show" prints.'),
  )
}

export const labelArgument = [
  '<label>',
  'the name of the block',
  optionValue(
    'label',
    blockNameSchema,
    'Give a name such as human or task.notes; coder/human if agent coder shares it.',
  ),
] as const

export const textOption = (field: string) =>
  optionValue(
    field,
    putBlockSchema.shape.value.unwrap(),
    `Give at most ${formatCount(limits.blockCharactersMax)} characters.`,
  )

export const textArgument = ['<text>', 'the text', textOption('text')] as const

export const versionOption = (field: string) =>
  wholeNumber(field, 1, 1_000_000_000, 'Give a version that "heddle memory blocks history" prints.')

/** A block as it is after a change. */
export function blockLines(block: MemoryBlock): Line[] {
  const { scope, owner, label, version, value, limit, readOnly, description, shared } = block
  const of = owner === null ? 'the project' : `${scope} ${safeText(owner)}`
  const flags = `${readOnly ? ' · read-only' : ''}${shared === undefined ? '' : ` · shared, mode ${shared.mode}`}`
  return [
    `block ${safeText(label)} of ${of} · version ${version} · ${formatCount(value.length)} of ${formatCount(limit)} characters${flags}`,
    ...(description === '' ? [] : [safeText(description)]),
    ...(value === '' ? [] : ['', ...value.split('\n').map((line) => safeText(line))]),
  ]
}
