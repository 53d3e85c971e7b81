import { once } from 'node:events'
import { ConflictError, PermanentError, validationError } from '@heddle/contracts'
import postgres from 'postgres'
import { CONNECT_TIMEOUT_MS } from '../connection/opening.js'
import { fromPostgres } from '../connection/postgres-errors.js'
import type { BackupHead } from './backup.js'
import { type BackupTable, POINTS_TABLE, readBackupTables, readMigrations, requireAllRows } from './backup-tables.js'
import { checkCounts, readRecords } from './read-records.js'
import { RenamedIds } from './renamed-ids.js'

export interface RestoreOptions {
  /** Of a superuser, or a role with BYPASSRLS. */
  readonly url: string
  /** The new name of the only project. Default: names stay. */
  readonly as?: string | undefined
  readonly onTable?: (table: string, rows: number) => void
}

export interface Restored {
  readonly head: BackupHead
  readonly projects: readonly string[]
  readonly rows: number
}

/**
 * Stores a backup in an empty store, in one transaction: after a failure, or if the process is killed, the store is as empty as
 * before.
 *
 * @throws ConflictError if the store holds a project; PermanentError `VALIDATION_ERROR` for a damaged backup, or one of another
 *   version
 */
export async function restoreBackup(chunks: AsyncIterable<Uint8Array>, options: RestoreOptions): Promise<Restored> {
  const sql = postgres(options.url, {
    max: 1,
    connect_timeout: CONNECT_TIMEOUT_MS / 1_000,
    connection: { application_name: 'heddle restore' },
    onnotice: () => {},
  })
  try {
    return await sql.begin((tx) => restoreIn(tx, chunks, options))
  } catch (error) {
    throw fromPostgres(error)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function restoreIn(
  tx: postgres.TransactionSql,
  chunks: AsyncIterable<Uint8Array>,
  { as, onTable }: RestoreOptions,
): Promise<Restored> {
  await requireAllRows(tx)
  // Services that start meanwhile wait with their first write, and find the projects.
  await tx`lock table heddle.projects in share row exclusive mode`
  const [there] = await tx<{ name: string }[]>`select name from heddle.projects limit 1`
  if (there !== undefined) throw notEmpty(there.name)
  const known = new Map((await readBackupTables(tx)).map((table) => [table.table, table]))
  const counted: Record<string, number> = {}
  let head: BackupHead | undefined
  let ids: RenamedIds | null = null
  let open: OpenTable | null = null
  for await (const record of readRecords(chunks)) {
    switch (record.kind) {
      case 'head':
        head = record.head
        checkHead(head, await readMigrations(tx), as)
        ids = as === undefined ? null : new RenamedIds(head.projects[0] ?? '', as)
        break
      case 'table':
        open = await openTable(tx, record.table, known.get(record.table.table))
        break
      case 'row':
        if (open !== null) await open.write(ids === null ? record.row : ids.renamed(open.table, record.row))
        break
      case 'rows-end':
        if (open === null) break
        await open.end()
        counted[open.table.table] = open.rows
        onTable?.(open.table.table, open.rows)
        break
      case 'end':
        checkCounts(counted, record.rows)
    }
  }
  if (head === undefined) throw new Error('a backup without its head')
  if (known.has(POINTS_TABLE) && counted[POINTS_TABLE] === undefined) throw withoutPoints()
  await setSequences(tx)
  const rows = Object.values(counted).reduce((sum, count) => sum + count, 0)
  return { head, projects: as === undefined ? head.projects : [as], rows }
}

interface OpenTable {
  readonly table: BackupTable
  readonly rows: number
  write(row: Buffer): Promise<void>
  end(): Promise<void>
}

async function openTable(
  tx: postgres.TransactionSql,
  table: BackupTable,
  known: BackupTable | undefined,
): Promise<OpenTable> {
  let rows = 0
  // A server without pgvector compares vectors by itself.
  const isLeftOut = known === undefined && table.table === POINTS_TABLE
  if (known === undefined && !isLeftOut)
    throw new PermanentError('VALIDATION_ERROR', `the store has no table ${table.table}`)
  for (const [name] of table.columns) {
    // Names stand in a statement of a superuser.
    if (known !== undefined && !known.columns.some(([column]) => column === name))
      throw new PermanentError('VALIDATION_ERROR', `the store has no such column in ${table.table}`, { received: name })
  }
  const names = table.columns.map(([name]) => `"${name}"`).join(', ')
  const stream = isLeftOut ? null : await tx.unsafe(`copy heddle."${table.table}" (${names}) from stdin`).writable()
  let failure: unknown
  stream?.on('error', (error) => {
    failure = error
  })
  return {
    table,
    get rows() {
      return rows
    },
    async write(row) {
      rows++
      if (failure !== undefined) throw failure
      if (stream !== null && !stream.write(row)) await once(stream, 'drain')
    },
    async end() {
      if (stream === null) return
      const finished = once(stream, 'finish')
      stream.end()
      await finished
      if (failure !== undefined) throw failure
    },
  }
}

/** Numbers that the store gives itself continue after those of the backup. */
async function setSequences(tx: postgres.TransactionSql): Promise<void> {
  const columns = await tx<{ table: string; column: string; sequence: string }[]>`
    select c.relname as table, a.attname as column, pg_get_serial_sequence(format('heddle.%I', c.relname), a.attname) as sequence
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'heddle'::regnamespace and c.relkind = 'r' and a.attidentity <> ''`
  for (const { table, column, sequence } of columns) {
    await tx.unsafe(
      `select setval($1::regclass, coalesce((select max("${column}") from heddle."${table}"), 0) + 1, false)`,
      [sequence],
    )
  }
}

function checkHead(head: BackupHead, migrations: readonly string[], as: string | undefined): void {
  if (JSON.stringify(head.migrations) !== JSON.stringify(migrations)) {
    throw new PermanentError('VALIDATION_ERROR', 'file: the backup is of another version of the tables', {
      field: 'file',
      received: `${head.migrations.length} migrations, the store has ${migrations.length}`,
      hint: 'Restore with the version that made the backup, then run heddle migrate with this one.',
    })
  }
  if (as !== undefined && head.projects.length !== 1)
    throw validationError('as', 'needs a backup of one project', `${head.projects.length} projects`)
}

function notEmpty(name: string): ConflictError {
  return new ConflictError('the store is not empty', {
    field: 'database',
    received: `project ${name}`,
    hint: 'Create an empty database, run heddle migrate, and restore there.',
  })
}

function withoutPoints(): ConflictError {
  return new ConflictError('the server has pgvector, and the backup is of one without', {
    hint: 'Run "drop table heddle.vector_points", restore, then heddle migrate, which fills it.',
  })
}
