import { notFound } from '@heddle/contracts'
import postgres from 'postgres'
import { CONNECT_TIMEOUT_MS } from '../connection/opening.js'
import { connectionLost } from '../connection/postgres-errors.js'
import { type BackupTable, readBackupTables, readMigrations, requireAllRows } from './backup-tables.js'

/*
 * A backup is text: a line of JSON, then for each table a line of JSON and its rows as COPY writes them, ended by `\.` as in a
 * script of psql, and at the end a line of JSON with the numbers of rows.
 */

export interface BackupHead {
  readonly format: 1
  /** Names of the projects in it. */
  readonly projects: readonly string[]
  /** Whether these are all of the store. */
  readonly isWhole: boolean
  readonly at: string
  readonly migrations: readonly string[]
}

export interface BackupOptions {
  /** Of a superuser, or a role with BYPASSRLS. */
  readonly url: string
  /** Default: all projects. */
  readonly project?: { readonly id: string; readonly name: string } | undefined
  readonly nowMs: number
  readonly onTable?: (table: string, rows: number) => void
}

export const END_OF_ROWS = Buffer.from('\\.\n')

/**
 * Reads projects as of one moment, while others write: one transaction whose reads share a snapshot. It holds no lock that a writer
 * waits for, and keeps the server from vacuuming newer rows until it ends.
 *
 * @throws PermanentError `NOT_FOUND` without the project, `FORBIDDEN` for a login that does not see all rows;
 *   RetryableError `SERVICE_UNAVAILABLE` if the connection broke
 */
export async function* readBackup(options: BackupOptions): AsyncGenerator<Buffer> {
  const { url, project, nowMs, onTable } = options
  const sql = postgres(url, {
    max: 1,
    connect_timeout: CONNECT_TIMEOUT_MS / 1_000,
    // The driver would replace the connection after half an hour.
    max_lifetime: null,
    connection: { application_name: 'heddle backup' },
    onnotice: () => {},
  })
  try {
    await sql`begin isolation level repeatable read read only`
    await requireAllRows(sql)
    // As the server would set it for pg_dump: an incomplete read is an error.
    await sql`set local row_security = off`
    const begunAt = await transactionTime(sql)
    const all = await sql<
      { name: string; id: string }[]
    >`select name, project_id as id from heddle.projects order by name`
    const chosen = project === undefined ? all : all.filter(({ id }) => id === project.id)
    if (project !== undefined && chosen.length === 0) throw notFound('project', project.name, 'it is not in this store')
    const head: BackupHead = {
      format: 1,
      projects: chosen.map(({ name }) => name),
      isWhole: project === undefined,
      at: new Date(nowMs).toISOString(),
      migrations: await readMigrations(sql),
    }
    yield line(head)
    const rows: Record<string, number> = {}
    for (const table of await readBackupTables(sql)) {
      yield line(table)
      let count = 0
      for await (const chunk of copyOut(sql, table, project?.id)) {
        count += countLines(chunk)
        yield chunk
      }
      yield END_OF_ROWS
      rows[table.table] = count
      onTable?.(table.table, count)
    }
    // On a connection that took the place of a broken one, reads would go on without the snapshot.
    if ((await transactionTime(sql)) !== begunAt) throw connectionLost()
    yield line({ rows })
  } finally {
    // The transaction has only read.
    await sql.end({ timeout: 1 })
  }
}

/** When the transaction began: the same for all of its statements. */
async function transactionTime(sql: postgres.Sql): Promise<string | undefined> {
  const [row] = await sql<{ at: string }[]>`select now()::text as at`
  return row?.at
}

async function* copyOut(
  sql: postgres.Sql,
  { table, columns }: BackupTable,
  projectId: string | undefined,
): AsyncGenerator<Buffer> {
  const names = columns.map(([name]) => `"${name}"`).join(', ')
  // The id is one that this program derived, and COPY takes no parameters.
  const condition = projectId === undefined ? '' : ` where project_id = '${projectId}'`
  const rows = await sql.unsafe(`copy (select ${names} from heddle."${table}"${condition}) to stdout`).readable()
  for await (const chunk of rows) yield chunk as Buffer
  // The driver pauses its socket while the stream is full, and would leave it paused if the last rows had filled it.
  rows._read(0)
}

function line(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}

function countLines(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count++
  return count
}
