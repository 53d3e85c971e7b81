import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf, loggerOf } from '../../connect/context.js'
import { refuseRemote } from '../../connect/gateway-address.js'
import { untilStopped } from '../../connect/with-engine.js'
import { withCommonOptions } from '../../options/options.js'

export function registerMigrate(program: Command, context: CommandContext): void {
  const migrate = program.command('migrate').description("migrate the database to this version's schema")
  withCommonOptions(migrate, [
    'heddle migrate',
    'HEDDLE_ADMIN_DATABASE_URL=postgres://postgres@db/heddle heddle migrate',
  ]).action((options: CommonOptions) => migrateDatabase(context, options))
}

async function migrateDatabase(context: CommandContext, options: CommonOptions): Promise<void> {
  refuseRemote(context, {}, 'migrating a database')
  const config = configOf(context, options)
  const log = loggerOf(context, config, 'command')
  const { migrateAll, openServer } = await import('@heddle/host/database')
  const server = await openServer({ context, config, log, durable: true })
  try {
    const applied = await untilStopped(context.signal, migrateAll(config, server, log))
    context.printer.result({ applied, upToDate: true }, () =>
      applied.length === 0
        ? ['the database is up to date']
        : [...applied.map((name) => `applied ${name}`), 'the database is up to date now'],
    )
  } finally {
    await server.stop()
  }
}
