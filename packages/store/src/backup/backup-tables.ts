import { PermanentError } from '@heddle/contracts'
import type postgres from 'postgres'

/** A table whose rows belong to projects, with the types of its columns in their order. */
export interface BackupTable {
  readonly table: string
  readonly columns: readonly (readonly [name: string, type: string])[]
}

/** Rows that a server with pgvector has beside those of `vectors`. */
export const POINTS_TABLE = 'vector_points'

/** Tables whose ids are derived from names, and are in all other tables: first, so that a restore can rename them. */
const NAMED = ['projects', 'agents', 'threads', 'items']

/**
 * The tables of all projects, each after those that it refers to. A new table is in the next backup by itself: its rows belong to
 * projects if it has the column.
 */
export async function readBackupTables(sql: postgres.ISql): Promise<BackupTable[]> {
  const tables = await sql<BackupTable[]>`
    select c.relname as table, json_agg(json_build_array(a.attname, format_type(a.atttypid, null)) order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'heddle'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = ''
    group by c.relname having bool_or(a.attname = 'project_id')
    order by c.relname`
  const references = await sql<{ from: string; to: string }[]>`
    select c.conrelid::regclass::text as from, c.confrelid::regclass::text as to
    from pg_constraint c where c.contype = 'f' and c.conrelid <> c.confrelid and c.connamespace = 'heddle'::regnamespace`
  const bare = (name: string) => name.replace(/^heddle\./, '').replaceAll('"', '')
  const left = new Map(tables.map((table) => [table.table, table]))
  const ordered = tables.filter(({ table }) => NAMED.includes(table)).sort(byPlace)
  for (const { table } of ordered) left.delete(table)
  while (left.size > 0) {
    const free = [...left.values()].filter(
      ({ table }) => !references.some(({ from, to }) => bare(from) === table && left.has(bare(to))),
    )
    if (free.length === 0) throw new Error('the foreign keys of the tables form a circle')
    for (const table of free) {
      ordered.push(table)
      left.delete(table.table)
    }
  }
  return ordered
}

function byPlace(one: BackupTable, other: BackupTable): number {
  return NAMED.indexOf(one.table) - NAMED.indexOf(other.table)
}

/** Rows that a policy hides would be missing without an error, so the server refuses such reads instead. */
export async function requireAllRows(sql: postgres.ISql): Promise<void> {
  const [login] = await sql<{ isFree: boolean; name: string }[]>`
    select rolsuper or rolbypassrls as "isFree", rolname as name from pg_roles where rolname = current_user`
  if (login?.isFree === true) return
  throw new PermanentError('FORBIDDEN', `the login ${login?.name ?? ''} does not see the rows of all projects`, {
    field: 'HEDDLE_ADMIN_DATABASE_URL',
    hint: 'Set HEDDLE_ADMIN_DATABASE_URL to a superuser, or to a role with BYPASSRLS, as for pg_dump.',
  })
}

export async function readMigrations(sql: postgres.ISql): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`select hash from heddle_migrations.applied order by created_at`
  return rows.map(({ hash }) => hash)
}
