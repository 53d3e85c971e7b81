import { type AccessRole, accessRoles, idSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { withStore } from '../../connect/with-engine.js'
import { oneOf, optionValue } from '../../options/option-values.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { tableLines } from '../../output/table.js'

interface CreateOptions extends CommonOptions {
  readonly name: string
  readonly role: AccessRole
}

const keyIdOption = optionValue('id', idSchema, 'Give the id of a key, as heddle keys list shows it.')

export function registerKeys(program: Command, context: CommandContext): void {
  const group = program.command('keys').description('the keys with which others ask the gateway')
  const create = group
    .command('create')
    .description('make a key of the project; it is shown once')
    .requiredOption('--name <name>', 'who uses it', nameOption('name'))
    .requiredOption('--role <role>', `what it may do: ${accessRoles.join(', ')}`, oneOf('role', accessRoles))
  withCommonOptions(create, [
    'heddle keys create --name log-shipper --role produce',
    'heddle keys create --name coder --role agent --project team-a --json',
  ])
    .addHelpText(
      'after',
      '\nproduce: append messages, tell how threads stand · read: build contexts, recall, search, lists, events\nagent: both of these · admin: all, agents and erasure included\n\nOnce a project has had a key, its gateway lets nobody in without one.',
    )
    .action((options: CreateOptions) => createKey(context, options))
  const list = group.command('list').description('list the keys of the project, without themselves')
  withCommonOptions(list, ['heddle keys list', 'heddle keys list --json']).action((options: CommonOptions) =>
    listKeys(context, options),
  )
  const revoke = group
    .command('revoke')
    .description('take a key back; gateways that know it let it in for 2 more seconds')
    .argument('<id>', 'its id', keyIdOption)
  withCommonOptions(revoke, ['heddle keys revoke 01a20130-ce11-7629-a0e4-3eb12f53c0ac']).action(
    (id: string, options: CommonOptions) => revokeKey(context, id, options),
  )
}

async function createKey(context: CommandContext, options: CreateOptions): Promise<void> {
  const { name, role } = options
  await withStore(context, options, async ({ client, config }) => {
    const made = await client.keys.create({ name, role })
    context.printer.result(made, () => [
      made.key,
      '',
      `key ${made.id} "${safeText(name)}" of project ${safeText(config.project)}, role ${role}`,
      'It is not shown again. Send it as "Authorization: Bearer KEY", or set HEDDLE_KEY.',
    ])
  })
}

async function listKeys(context: CommandContext, options: CommonOptions): Promise<void> {
  await withStore(context, options, async ({ client }) => {
    const page = await client.keys.list()
    context.printer.result(page, () =>
      page.items.length === 0
        ? ['no keys yet: heddle keys create --name NAME --role ROLE makes one']
        : tableLines(
            [{ title: 'id' }, { title: 'name' }, { title: 'role' }, { title: 'last used' }, { title: 'revoked' }],
            page.items.map(({ id, name, role, lastUsedAt, revokedAt }) => [
              id,
              safeText(name),
              role,
              lastUsedAt ?? 'never',
              revokedAt ?? '',
            ]),
          ),
    )
  })
}

async function revokeKey(context: CommandContext, id: string, options: CommonOptions): Promise<void> {
  await withStore(context, options, async ({ client }) => {
    const revoked = await client.keys.revoke(id)
    context.printer.result(revoked, () => [`key ${revoked.id} "${safeText(revoked.name)}" is revoked`])
  })
}
