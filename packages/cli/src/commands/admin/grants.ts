import type { Client } from '@heddle/client/interface'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { withStore } from '../../connect/with-engine.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { itemTable } from '../../output/table.js'
import { storeCommand } from '../declared.js'

interface SideOptions extends CommonOptions {
  readonly to?: string
  readonly from?: string
}

export function registerGrants(program: Command, context: CommandContext): void {
  const group = program.command('grants').description('manage what projects may recall from each other')
  const offer = group
    .command('offer')
    .description('allow another project to recall from this one; takes effect once it accepts')
    .requiredOption('--to <project>', 'the project that may read', nameOption('to'))
  withCommonOptions(offer, ['heddle grants offer --to team-b --project team-a']).action(
    (options: CommonOptions & { to: string }) =>
      change(context, options, (client) => client.grants.offer(options.to), 'offered', options.to),
  )
  const accept = group
    .command('accept')
    .description('accept the grant that another project has offered to this one')
    .requiredOption('--from <project>', 'the project that is read', nameOption('from'))
  withCommonOptions(accept, ['heddle grants accept --from team-a --project team-b']).action(
    (options: CommonOptions & { from: string }) =>
      change(context, options, (client) => client.grants.accept(options.from), 'accepted', options.from),
  )
  const revoke = group
    .command('revoke')
    .description('revoke a grant, from either side')
    .option('--to <project>', 'the project that may read from this one', nameOption('to'))
    .option('--from <project>', 'the project that this one may read', nameOption('from'))
  withCommonOptions(revoke, ['heddle grants revoke --to team-b --project team-a']).action((options: SideOptions) => {
    const sides = sidesOf(options)
    const other = 'to' in sides ? sides.to : sides.from
    return change(context, options, (client) => client.grants.revoke(sides), 'revoked', other)
  })
  storeCommand(group, context, {
    name: 'list',
    description: 'list the grants that this project has offered',
    examples: ['heddle grants list --json'],
    load: ({ client }) => client.grants.list(),
    lines: ({ items }) =>
      items.length === 0
        ? ['no grants yet: heddle grants offer --to PROJECT creates one']
        : itemTable(items, [
            { title: 'to project', text: ({ toProjectId }) => toProjectId },
            { title: 'offered', text: ({ createdAt }) => createdAt },
            { title: 'accepted', text: ({ acceptedAt }) => acceptedAt ?? 'not yet' },
            { title: 'revoked', text: ({ revokedAt }) => revokedAt ?? '' },
          ]),
  })
}

function sidesOf({ to, from }: SideOptions): { to: string } | { from: string } {
  if (to !== undefined && from === undefined) return { to }
  if (from !== undefined && to === undefined) return { from }
  throw new UsageError(
    'to',
    'or from must be given, and only one of them',
    `${to === undefined ? 'none' : 'both'}`,
    'Give --to where the other project reads this one, --from where this one reads the other.',
  )
}

async function change(
  context: CommandContext,
  options: CommonOptions,
  work: (client: Client) => Promise<void>,
  status: string,
  other: string,
): Promise<void> {
  await withStore(context, options, async ({ client, config }) => {
    await work(client)
    context.printer.result({ status, project: config.project, other, scope: 'recall' }, () => [
      `${status}: recall, between ${safeText(config.project)} and ${safeText(other)}`,
    ])
  })
}
