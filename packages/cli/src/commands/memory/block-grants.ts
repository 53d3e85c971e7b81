import {
  type AgentBlockKey,
  type BlockGrant,
  type BlockGrantMode,
  blockGrantModeSchema,
  blockLabelSchema,
} from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import type { UrlOptions } from '../../connect/with-remote.js'
import { optionValue } from '../../options/option-values.js'
import { given, nameOption, type PageOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import type { Line } from '../../output/table.js'
import { clientCommand, listCommand } from '../declared.js'

interface OwnerOptions extends CommonOptions, UrlOptions {
  readonly agent: string
}

interface GranteeOptions extends OwnerOptions {
  readonly to: string
}

const label = [
  '<label>',
  'the name of the block',
  optionValue('label', blockLabelSchema, 'Give the label of a block of the agent, such as human.'),
] as const

const keyOf = (name: string, { agent }: OwnerOptions): AgentBlockKey => ({ scope: 'agent', label: name, owner: agent })

const withGrantee = (command: Command) =>
  command
    .requiredOption('--agent <name>', 'the agent whose block it is', nameOption('agent'))
    .requiredOption('--to <agent>', 'the other agent', nameOption('to'))

function grantLine({ owner, label: name, to, mode }: BlockGrant): Line[] {
  const block = `block ${safeText(name)} of agent ${safeText(owner)}`
  if (mode === null) return [`${block} is no longer shared with agent ${safeText(to)}`]
  return [
    `${block} is shared with agent ${safeText(to)}, which sees it as ${safeText(`${owner}/${name}`)} · mode ${mode}`,
  ]
}

/** Commands that share blocks of agents. */
export function registerBlockGrants(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'grant',
    description: 'share a block of an agent with another agent',
    arguments: [label],
    options: (command) =>
      withGrantee(command).option(
        '--mode <mode>',
        'read, or write: the other agent also inserts, replaces and rethinks it; read unless given',
        optionValue('mode', blockGrantModeSchema, 'Give read or write.'),
      ),
    examples: [
      'heddle memory blocks grant plan --agent coder --to reviewer',
      'heddle memory blocks grant plan --agent coder --to reviewer --mode write --json',
    ],
    load: (
      { blocks },
      { to, mode = 'read', ...owner }: GranteeOptions & { readonly mode?: BlockGrantMode },
      name: string,
    ) => blocks.grant(keyOf(name, owner), { to, mode }),
    lines: grantLine,
  })
  clientCommand(group, context, {
    name: 'revoke',
    description: 'share a block of an agent with another agent no longer',
    arguments: [label],
    options: withGrantee,
    examples: ['heddle memory blocks revoke plan --agent coder --to reviewer'],
    load: ({ blocks }, { to, ...owner }: GranteeOptions, name: string) => blocks.revoke(keyOf(name, owner), { to }),
    lines: grantLine,
  })
  listCommand(group, context, {
    name: 'grants',
    description:
      'list the agents that a block is shared with; without a block, all that an agent shares and that is shared with it',
    arguments: [['[label]', label[1], label[2]]],
    options: (command) => command.requiredOption('--agent <name>', 'the agent', nameOption('agent')),
    examples: ['heddle memory blocks grants plan --agent coder --json', 'heddle memory blocks grants --agent coder'],
    check: ({ limit, cursor }: OwnerOptions & PageOptions, name?: string) => {
      if (name === undefined || (limit === undefined && cursor === undefined)) return
      const field = limit === undefined ? 'cursor' : 'limit'
      throw new UsageError(field, 'cannot be combined with a label', name, 'All grants of a block are one page.')
    },
    load: ({ blocks }, { limit, cursor, ...owner }: OwnerOptions & PageOptions, name?: string) =>
      name === undefined ? blocks.grantsOf(owner.agent, given({ limit, cursor })) : blocks.grants(keyOf(name, owner)),
    items: 'grants',
    none: () => 'nothing is shared',
    columns: [
      { title: 'block', text: ({ owner, label: name }) => `${owner}/${name}` },
      { title: 'agent', text: ({ to }) => to },
      { title: 'mode', text: ({ mode }) => mode ?? 'revoked' },
      { title: 'since', text: ({ changedAt }) => changedAt },
    ],
  })
}
