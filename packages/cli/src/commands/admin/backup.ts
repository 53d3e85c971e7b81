import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { Queues } from '@heddle/queue'
import type { Config, Logger } from '@heddle/runtime'
import type { AdminAddresses, BackupSummary } from '@heddle/store'
import type { Command } from 'commander'
import { readBackupKey } from '../../backup/backup-key.js'
import { openChunks, sealChunks } from '../../backup/sealed-chunks.js'
import { type CommandContext, type CommonOptions, configOf, loggerOf } from '../../connect/context.js'
import { refuseRemote } from '../../connect/gateway-address.js'
import { databaseOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { writeWholeFile } from '../../output/whole-file.js'

interface BackupOptions extends CommonOptions {
  readonly all?: true
  readonly database?: string
  readonly keyFile?: string
}

export function registerBackup(program: Command, context: CommandContext): void {
  const backup = program
    .command('backup')
    .description('write a project, or all of them, as of one moment, while others read and write')
    .argument('<file>', 'the file to write, replaced once the backup is complete')
    .option('--all', 'all projects of the store')
    .option(
      '--database <name>',
      'with --all: the database of HEDDLE_DATABASES that is read',
      databaseOption('database'),
    )
    .option('--key-file <file>', 'encrypt with the key in this file (default: HEDDLE_BACKUP_KEY, or no encryption)')
  withCommonOptions(backup, [
    'heddle backup project.heddle-backup',
    'heddle backup --all store.heddle-backup --key-file backup.key',
  ])
    .addHelpText(
      'after',
      '\nThe file is read back and counted before it gets its name. Queues are not in it: they are filled again from the store.',
    )
    .action((file: string, options: BackupOptions) => writeBackup(context, file, options))
}

async function writeBackup(context: CommandContext, file: string, options: BackupOptions): Promise<void> {
  refuseRemote(context, {}, 'a backup')
  if (options.database !== undefined && options.all !== true)
    throw new UsageError('database', 'needs --all: a project is found wherever it is', options.database, 'Add --all.')
  const key = await readBackupKey(context, options.keyFile)
  const config = configOf(context, options)
  const log = loggerOf(context, config, 'command')
  const path = resolve(context.cwd, file)
  const { adminAddressesOf, backendOf, openServer } = await import('@heddle/host/database')
  const { checkBackup, readBackup } = await import('@heddle/store')
  const { projectIdOf } = await import('@heddle/core')
  const server = await openServer({ context, config, log, durable: true })
  try {
    const waiting = await queuedJobs(config, backendOf(config, server), log)
    const parts = readBackup({
      url: await addressOf(adminAddressesOf(config, server), config, options),
      project: options.all === true ? undefined : { id: projectIdOf(config.project), name: config.project },
      nowMs: Date.now(),
      onTable: (table, rows) => {
        if (rows > 0) context.printer.note(`${table}: ${formatCount(rows)} rows`)
      },
    })
    let checked: BackupSummary | undefined
    const check = async (partial: string) => {
      checked = await checkBackup(openChunks(createReadStream(partial), key))
    }
    // It holds every message, and by default nothing encrypts it.
    const written = { signal: context.signal, newMode: 0o600, check }
    const bytes = await writeWholeFile(path, sealChunks(parts, key), written)
    if (checked === undefined) throw new Error('the backup was not read back')
    const { head, rows } = checked as BackupSummary
    const encrypted = key !== null
    context.printer.result({ file: path, bytes, rows, encrypted, ...head, waiting }, () => [
      `${formatCount(rows)} rows of ${head.projects.map(safeText).join(', ') || 'no project'}, ${formatCount(bytes)} bytes, read back, in ${safeText(file)}${encrypted ? '' : '; not encrypted'}`,
      waiting === null
        ? 'the queues could not be read: appends that were only queued are not in the backup'
        : `the queues held ${formatCount(waiting.jobs)} jobs, ${formatCount(waiting.ingest)} of them appends that are not in the backup if no worker has stored them since`,
    ])
  } finally {
    await server.stop()
  }
}

/** The address of the database with the project, or of the one whose projects are all read: they share one moment. */
async function addressOf(databases: AdminAddresses, config: Config, { all, database }: BackupOptions): Promise<string> {
  const [only, ...others] = Object.values(databases)
  if (others.length === 0 && only !== undefined) return only
  const { findDatabase, requireNoMoves } = await import('@heddle/store')
  const { projectIdOf } = await import('@heddle/core')
  if (all === true && database !== undefined) await requireNoMoves(databases, database)
  const name = all === true ? database : await findDatabase(databases, projectIdOf(config.project))
  const address = databases[name ?? '']
  if (address !== undefined) return address
  throw new UsageError(
    'database',
    `must be one of ${Object.keys(databases).join(', ')}`,
    name ?? 'none',
    'A backup of all projects is of one database at one moment: make one of each.',
  )
}

/** Jobs at the beginning of the backup: an append with `ack: queued` is only there until a worker has stored it. */
async function queuedJobs(
  config: Config,
  backend: Parameters<typeof import('@heddle/queue').openQueues>[0]['backend'],
  log: Logger,
): Promise<{ jobs: number; ingest: number } | null> {
  const { openQueues } = await import('@heddle/queue')
  let queues: Queues | null = null
  try {
    queues = await openQueues({ backend, prefix: config.queuePrefix, log })
    const stages = await queues.stats()
    const jobsOf = (found: typeof stages) =>
      found.reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0)
    return { jobs: jobsOf(stages), ingest: jobsOf(stages.filter(({ stage }) => stage === 'ingest')) }
  } catch (error) {
    log.warn({ error }, 'the queues could not be read')
    return null
  } finally {
    await queues?.close()
  }
}
