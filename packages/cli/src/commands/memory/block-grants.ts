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
import { nameOption } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { itemTable, type Line } from '../../output/table.js'
import { clientCommand } from '../declared.js'

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

const withAgent = (command: Command) =>
  command.requiredOption('--agent <name>', 'the agent whose block it is', nameOption('agent'))
const withGrantee = (command: Command) =>
  withAgent(command).requiredOption('--to <agent>', 'the other agent', nameOption('to'))

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
  clientCommand(group, context, {
    name: 'grants',
    description: 'list the agents that a block of an agent is shared with',
    arguments: [label],
    options: withAgent,
    examples: ['heddle memory blocks grants plan --agent coder --json'],
    load: ({ blocks }, owner: OwnerOptions, name: string) => blocks.grants(keyOf(name, owner)),
    lines: ({ items }) =>
      items.length === 0
        ? ['the block is not shared']
        : itemTable(items, [
            { title: 'agent', text: ({ to }) => to },
            { title: 'mode', text: ({ mode }) => mode ?? 'revoked' },
            { title: 'since', text: ({ changedAt }) => changedAt },
          ]),
  })
}
