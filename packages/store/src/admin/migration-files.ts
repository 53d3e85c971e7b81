import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type postgres from 'postgres'

/** Beside both `src/` and `dist/`, so the relative path is the same. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../migrations', import.meta.url))

/**
 * The 28 migrations of the versions before the first release, which `0000_schema` replaces. A database that has begun this
 * chain is migrated to its end, and then has the schema of `0000_schema`.
 */
export const EARLIER_FOLDER = `${MIGRATIONS_FOLDER}/before-1`

/** A schema of its own, so that the list is neither mixed up with that of another Drizzle user nor bound by row-level security. */
export const MIGRATIONS_TABLE = { migrationsSchema: 'heddle_migrations', migrationsTable: 'applied' } as const

interface Migration {
  readonly name: string
  readonly hash: string
}

/** The migrations of a folder, oldest first. */
function migrationsOf(migrationsFolder: string, prefix = ''): Migration[] {
  const journal = JSON.parse(readFileSync(`${migrationsFolder}/meta/_journal.json`, 'utf8')) as {
    entries: { tag: string }[]
  }
  const files = readMigrationFiles({ migrationsFolder })
  return journal.entries.map(({ tag }, index) => ({ name: `${prefix}${tag}`, hash: files[index]?.hash ?? '' }))
}

/** Hashes of the migrations that were applied to a database. */
export async function appliedHashes(sql: postgres.Sql): Promise<Set<string>> {
  const [present] = await sql<{ found: boolean }[]>`
    select to_regclass('heddle_migrations.applied') is not null as found`
  if (present?.found !== true) return new Set()
  const rows = await sql<{ hash: string }[]>`select hash from heddle_migrations.applied`
  return new Set(rows.map(({ hash }) => hash))
}

/** Whether the database has begun the earlier chain and is not recorded to be at its end. */
export function isOnEarlierChain(applied: ReadonlySet<string>): boolean {
  const [first] = migrationsOf(MIGRATIONS_FOLDER)
  return !applied.has(first?.hash ?? '') && migrationsOf(EARLIER_FOLDER).some(({ hash }) => applied.has(hash))
}

/** The migrations that concern a database that has seen `applied`, oldest first. Those of the earlier chain are called `before-1/…`. */
export function knownMigrations(applied: ReadonlySet<string>): Migration[] {
  const earlier = isOnEarlierChain(applied) ? migrationsOf(EARLIER_FOLDER, 'before-1/') : []
  return [...earlier, ...migrationsOf(MIGRATIONS_FOLDER)]
}
