import { type AccessRole, accessRoles, idSchema } from '@heddle/contracts'
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
}

const keyIdOption = optionValue('id', idSchema, 'Give the id of a key, as heddle keys list shows it.')

export function registerKeys(program: Command, context: CommandContext): void {
  const group = program.command('keys').description('manage gateway API keys')
  storeCommand(group, context, {
    name: 'create',
    description: 'create a key for the project; it is shown once',
    options: (command) =>
      command
        .requiredOption('--name <name>', 'who uses it', nameOption('name'))
        .requiredOption('--role <role>', `what it may do: ${accessRoles.join(', ')}`, oneOf('role', accessRoles)),
    examples: [
      'heddle keys create --name log-shipper --role produce',
      'heddle keys create --name coder --role agent --project team-a --json',
    ],
    notes:
      'produce: append messages, set the status of threads · read: build contexts, recall, search, list, follow events\nagent: both · admin: everything, including agents and erasure\n\nOnce a project has had a key, its gateway refuses requests without one.',
    load: ({ client }, { name, role }: CreateOptions) => client.keys.create({ name, role }),
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
            { title: 'last used', text: ({ lastUsedAt }) => lastUsedAt ?? 'never' },
            { title: 'revoked', text: ({ revokedAt }) => revokedAt ?? '' },
          ]),
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
