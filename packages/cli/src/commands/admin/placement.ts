import type { Config } from '@heddle/runtime'
import type { AdminAddresses, Move, PlacedProject } from '@heddle/store'
import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf, loggerOf } from '../../connect/context.js'
import { refuseRemote } from '../../connect/gateway-address.js'
import { untilStopped } from '../../connect/with-engine.js'
import { databaseOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount, itemTable, type Line } from '../../output/table.js'

interface PlacementOptions extends CommonOptions {
  readonly to?: string
  readonly abandon?: true
  readonly new?: true
}

/** `heddle projects list` and `heddle projects move`. */
export function registerPlacement(group: Command, context: CommandContext): void {
  const list = group.command('list').description('list the projects of all databases, and their moves')
  withCommonOptions(list, ['heddle projects list', 'heddle projects list --json']).action((options: CommonOptions) =>
    listProjects(context, options),
  )
  const move = group
    .command('move')
    .description('move the project to another database while it is read and written, or finish an interrupted move')
    .option('--to <database>', 'the other database: a name of HEDDLE_DATABASES, or default', databaseOption('to'))
    .option('--new', 'place a project that does not exist yet: it will be created there')
    .option('--abandon', 'end a move that has not switched, and remove its copy')
  withCommonOptions(move, [
    'heddle projects move --project acme --to b',
    'heddle projects move --project acme --abandon',
    'heddle projects move --project acme --to b --new',
  ])
    .addHelpText(
      'after',
      '\nEvery process must have the same HEDDLE_DATABASES before the first move. Writers are held back for less than a second.',
    )
    .action((options: PlacementOptions) => moveProject(context, options))
}

async function moveProject(context: CommandContext, options: PlacementOptions): Promise<void> {
  const { to, abandon, new: isNew = false } = options
  if ((to === undefined) === (abandon === undefined)) {
    throw new UsageError(
      'to',
      'or abandon must be given, and only one of them',
      to === undefined ? 'none' : 'both',
      'Give --to with the other database, or --abandon.',
    )
  }
  await withDatabases(context, options, async (databases, config) => {
    const { abandonMove, moveProject: move } = await import('@heddle/store')
    const { projectIdOf } = await import('@heddle/core')
    const { project } = config
    const common = {
      projectId: projectIdOf(project),
      project,
      databases,
      onState: ({ state, to: target }: Move) => context.printer.note(`${target}: ${state}`),
      onTable: (table: string, rows: number) => {
        if (rows > 0) context.printer.note(`${table}: ${formatCount(rows)} rows`)
      },
    }
    const moved = to === undefined ? await abandonMove(common) : await move({ ...common, to, isNew })
    context.printer.result({ project, ...moved }, () => resultLines(project, moved))
  })
}

function resultLines(project: string, { state, to, from, figures }: Move): Line[] {
  if (state === 'abandoned') return [`the move of ${safeText(project)} to ${to} is abandoned; it is in ${from}`]
  const { rows, changes, verified, heldMs } = figures
  if (verified === undefined) return [`${safeText(project)} is in ${to}`]
  return [
    `${safeText(project)} is in ${to}: ${formatCount(rows ?? 0)} rows copied, ${formatCount(changes ?? 0)} changes caught up, ${formatCount(verified)} rows compared`,
    ...(heldMs === undefined ? [] : [`writers were held back for ${heldMs} ms`]),
  ]
}

async function listProjects(context: CommandContext, options: CommonOptions): Promise<void> {
  await withDatabases(context, options, async (databases) => {
    const { listPlacements } = await import('@heddle/store')
    const items = await listPlacements(databases)
    context.printer.result({ items, nextCursor: null }, () =>
      items.length === 0 ? ['no projects yet'] : projectTable(items),
    )
  })
}

function projectTable(items: readonly PlacedProject[]): Line[] {
  return itemTable(items, [
    { title: 'project', text: ({ project, projectId }) => project ?? `${projectId} (not created yet)` },
    { title: 'database', text: ({ database }) => database },
    { title: 'last move', text: ({ move }) => (move === null ? '' : `${move.from} to ${move.to}: ${move.state}`) },
    { title: 'at', text: ({ move }) => move?.changedAt ?? '' },
  ])
}

async function withDatabases(
  context: CommandContext,
  options: CommonOptions,
  work: (databases: AdminAddresses, config: Config) => Promise<void>,
): Promise<void> {
  refuseRemote(context, {}, 'the placement of projects')
  const config = configOf(context, options)
  const { adminAddressesOf, openServer } = await import('@heddle/host/database')
  const server = await openServer({ context, config, log: loggerOf(context, config, 'command'), durable: true })
  try {
    await untilStopped(context.signal, work(adminAddressesOf(config, server), config))
  } finally {
    await server.stop()
  }
}
