import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readBackupKey } from '../../backup/backup-key.js'
import { openChunks } from '../../backup/sealed-chunks.js'
import { type CommandContext, type CommonOptions, configOf, loggerOf } from '../../connect/context.js'
import { refuseRemote } from '../../connect/gateway-address.js'
import { checkRegular, fileError } from '../../importing/read-file.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'

interface RestoreOptions extends CommonOptions {
  readonly as?: string
  readonly keyFile?: string
}

export function registerRestore(program: Command, context: CommandContext): void {
  const restore = program
    .command('restore')
    .description('store a backup in an empty store; after a failure the store is as empty as before')
    .argument('<file>', 'a file that heddle backup wrote')
    .option('--as <name>', 'name of the restored project (default: its original name)', nameOption('as'))
    .option('--key-file <file>', 'the key of an encrypted backup (default: HEDDLE_BACKUP_KEY)')
  withCommonOptions(restore, [
    'DATABASE_URL=postgres://postgres@db/restored heddle restore store.heddle-backup',
    'heddle restore project.heddle-backup --data .heddle-restored --as copy --key-file backup.key',
  ])
    .addHelpText(
      'after',
      '\nThe tables are migrated to this version first. The whole file is checked before anything is stored.',
    )
    .action((file: string, options: RestoreOptions) => restoreFile(context, file, options))
}

async function restoreFile(context: CommandContext, file: string, options: RestoreOptions): Promise<void> {
  refuseRemote(context, {}, 'a restore')
  const key = await readBackupKey(context, options.keyFile)
  const path = resolve(context.cwd, file)
  await checkRegular(path).catch((error: unknown) =>
    Promise.reject(fileError(path, error, { field: 'file', received: file })),
  )
  const config = configOf(context, options)
  const log = loggerOf(context, config, 'command')
  const { migrateAll, openServer } = await import('@heddle/host/database')
  const { checkBackup, restoreBackup } = await import('@heddle/store')
  const parts = () => openChunks(createReadStream(path, { signal: context.signal }), key)
  await checkBackup(parts())
  const server = await openServer({ context, config, log, durable: true })
  try {
    await migrateAll(config, server, log)
    const restored = await restoreBackup(parts(), {
      url: server.adminUrl,
      as: options.as,
      onTable: (table, rows) => {
        if (rows > 0) context.printer.note(`${table}: ${formatCount(rows)} rows`)
      },
    })
    const { projects, rows, head } = restored
    context.printer.result({ file: path, projects, rows, at: head.at }, () => [
      `${formatCount(rows)} rows of ${projects.map(safeText).join(', ') || 'no project'}, as of ${head.at}`,
    ])
  } finally {
    await server.stop()
  }
}
