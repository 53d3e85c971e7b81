import { type AccessRole, accessRoles, idSchema, type ProxyMode, proxyModes } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { oneOf, optionValue } from '../../options/option-values.js'
import { nameOption } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { itemTable } from '../../output/table.js'
import { storeCommand } from '../declared.js'

interface CreateOptions extends CommonOptions {
  readonly name: string
  readonly role: AccessRole
  readonly proxyMode?: GivenMode
}

type GivenMode = ProxyMode | 'none'

interface UpdateOptions extends CommonOptions {
  readonly proxyMode: GivenMode
}

const MODE = '--proxy-mode <mode>'
const modeText = `the mode of the proxy for its requests: ${proxyModes.join(', ')}, or none`
const modeOption = oneOf('proxy-mode', [...proxyModes, 'none'] as const)
const modeOf = (given: GivenMode): ProxyMode | null => (given === 'none' ? null : given)

const keyIdOption = optionValue('id', idSchema, 'Give the id of a key, as heddle keys list shows it.')

export function registerKeys(program: Command, context: CommandContext): void {
  const group = program.command('keys').description('manage gateway API keys')
  storeCommand(group, context, {
    name: 'create',
    description: 'create a key for the project; it is shown once',
    options: (command) =>
      command
        .requiredOption('--name <name>', 'who uses it', nameOption('name'))
        .requiredOption('--role <role>', `what it may do: ${accessRoles.join(', ')}`, oneOf('role', accessRoles))
        .option(MODE, modeText, modeOption),
    examples: [
      'heddle keys create --name log-shipper --role produce',
      'heddle keys create --name coder --role agent --project team-a --json',
      'heddle keys create --name nightly --role agent --proxy-mode compact',
    ],
    notes:
      'produce: append messages, set the status of threads · read: build contexts, recall, search, list, follow events\nagent: both · admin: everything, including agents and erasure\n\nOnce a project has had a key, its gateway refuses requests without one.',
    load: ({ client }, { name, role, proxyMode = 'none' }: CreateOptions) =>
      client.keys.create({ name, role, proxyMode: modeOf(proxyMode) }),
    lines: ({ id, key }, { options: { name, role }, source: { config } }) => [
      key,
      '',
      `key ${id} "${safeText(name)}" of project ${safeText(config.project)}, role ${role}`,
      'It is not shown again. Send it as "Authorization: Bearer KEY", or set HEDDLE_KEY.',
    ],
  })
  storeCommand(group, context, {
    name: 'list',
    description: 'list the keys of the project; the secrets are not shown',
    examples: ['heddle keys list', 'heddle keys list --json'],
    load: ({ client }) => client.keys.list(),
    lines: ({ items }) =>
      items.length === 0
        ? ['no keys yet: heddle keys create --name NAME --role ROLE creates one']
        : itemTable(items, [
            { title: 'id', text: ({ id }) => id },
            { title: 'name', text: ({ name }) => name },
            { title: 'role', text: ({ role }) => role },
            { title: 'proxy mode', text: ({ proxyMode }) => proxyMode ?? '' },
            { title: 'last used', text: ({ lastUsedAt }) => lastUsedAt ?? 'never' },
            { title: 'revoked', text: ({ revokedAt }) => revokedAt ?? '' },
          ]),
  })
  storeCommand(group, context, {
    name: 'update',
    description: 'change the mode of the proxy for requests with a key',
    arguments: [['<id>', 'the id of the key', keyIdOption]],
    options: (command) => command.requiredOption(MODE, modeText, modeOption),
    examples: [
      'heddle keys update 01a20130-ce11-7629-a0e4-3eb12f53c0ac --proxy-mode stub',
      'heddle keys update 01a20130-ce11-7629-a0e4-3eb12f53c0ac --proxy-mode none --json',
    ],
    notes:
      'The header x-heddle-mode of a request goes before the mode of its key, which goes before that of the agent and of the\nconfiguration. Gateways that have cached the key use its earlier mode for 2 more seconds.',
    load: ({ client }, { proxyMode }: UpdateOptions, id: string) =>
      client.keys.update(id, { proxyMode: modeOf(proxyMode) }),
    lines: ({ id, name, proxyMode }) => [`key ${id} "${safeText(name)}" has the proxy mode ${proxyMode ?? 'none'}`],
  })
  storeCommand(group, context, {
    name: 'revoke',
    description: 'revoke a key; gateways that have cached it accept it for 2 more seconds',
    arguments: [['<id>', 'the id of the key', keyIdOption]],
    examples: ['heddle keys revoke 01a20130-ce11-7629-a0e4-3eb12f53c0ac'],
    load: ({ client }, _: CommonOptions, id: string) => client.keys.revoke(id),
    lines: ({ id, name }) => [`key ${id} "${safeText(name)}" is revoked`],
  })
}
