import { ConflictError } from '@heddle/contracts'
import { type BackupTable, POINTS_TABLE, readBackupTables } from '../../backup/backup-tables.js'
import type { Tx } from '../../connection/connection.js'

/** A table of projects, with the columns by which a move finds its rows again. */
export interface MovedTable extends BackupTable {
  readonly keys: readonly string[]
  /** Columns that the server numbers: they are inserted, and never updated. */
  readonly numbered: readonly string[]
  /** All columns of the new database, in its order: those of a row of the table as a value. */
  readonly rowColumns: readonly string[]
}

/**
 * The tables of both databases, each after those that it refers to.
 *
 * @throws ConflictError if they are not the same
 */
export async function readMovedTables(from: Tx, to: Tx): Promise<MovedTable[]> {
  const [tables, others, keys, rows] = await Promise.all([
    readBackupTables(from),
    readBackupTables(to),
    readKeys(from),
    readRowColumns(to),
  ])
  const shapes = [tables, others].map((each) => each.map(shapeOf).sort().join('\n'))
  if (shapes[0] !== shapes[1]) throw differentTables(tables, others)
  return tables.map((table) => {
    const found = keys.find((each) => each.table === table.table)
    if (found === undefined) throw new Error(`${table.table} has no primary key`)
    return { ...table, ...found, rowColumns: rows.get(table.table) ?? [] }
  })
}

interface KeyColumns {
  readonly table: string
  readonly keys: string[]
  readonly numbered: string[]
}

async function readKeys(sql: Tx): Promise<KeyColumns[]> {
  return await sql<KeyColumns[]>`
    select c.relname as table, json_agg(a.attname order by a.attnum) as keys,
      (select coalesce(json_agg(n.attname), '[]') from pg_attribute n
       where n.attrelid = c.oid and n.attidentity <> '' and not n.attisdropped) as numbered
    from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
    where c.relnamespace = 'heddle'::regnamespace and c.relkind = 'r'
    group by c.oid, c.relname`
}

async function readRowColumns(sql: Tx): Promise<Map<string, string[]>> {
  const rows = await sql<{ table: string; names: string[] }[]>`
    select c.relname as table, json_agg(a.attname order by a.attnum) as names
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'heddle'::regnamespace and c.relkind = 'r'
    group by c.relname`
  return new Map(rows.map(({ table, names }) => [table, names]))
}

/** Databases of different first versions have the same columns in different orders. */
function shapeOf({ table, columns }: BackupTable): string {
  return `${table}: ${columns
    .map(([name, type]) => `${name} ${type}`)
    .sort()
    .join(', ')}`
}

function differentTables(from: readonly BackupTable[], to: readonly BackupTable[]): ConflictError {
  const has = (tables: readonly BackupTable[]) => tables.some(({ table }) => table === POINTS_TABLE)
  return has(from) === has(to)
    ? new ConflictError('the databases have different tables', {
        field: 'to',
        hint: 'Run heddle migrate, with HEDDLE_DATABASES, by one version of Heddle.',
      })
    : new ConflictError(`only the ${has(from) ? 'former' : 'new'} database has pgvector`, {
        field: 'to',
        hint: 'Install the extension in both databases, and run heddle migrate; or in neither.',
      })
}

/** Columns as a list for a statement; their names are those of this version's tables. */
export function listOf(columns: readonly string[], alias?: string): string {
  const prefix = alias === undefined ? '' : `${alias}.`
  return columns.map((name) => `${prefix}"${name}"`).join(', ')
}

export function namesOf({ columns }: BackupTable): string[] {
  return columns.map(([name]) => name)
}

export function typeOf(table: BackupTable, column: string): string {
  const found = table.columns.find(([name]) => name === column)
  return found === undefined ? 'uuid' : found[1]
}
