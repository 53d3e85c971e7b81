import { readdirSync, readFileSync } from 'node:fs'
import { inspectServer, migrate } from '@heddle/store'
import { freshDatabase } from '@heddle/test-support'
import postgres from 'postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readCatalog } from './catalog.js'
import { applyEarlier, earlierMigrations } from './earlier-chain.js'
import { storeOfTests } from './support.js'

/** Of commit 0973e1d, the first whose data must survive. */
const FIRST_KEPT = earlierMigrations.indexOf('0023_clear_requests') + 1

/** The migrations of a fresh database, the first one before those of later versions. */
const migrations = readdirSync(new URL('../../../packages/store/migrations/', import.meta.url))
  .filter((name) => name.endsWith('.sql'))
  .map((name) => name.replace(/\.sql$/, ''))
  .sort()

/** A connection as the owner of the database. */
function ownerOf(url: string): postgres.Sql {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  onTestFinished(() => sql.end())
  return sql
}

/** A database that has stopped after `count` migrations of the earlier chain. */
async function earlierDatabase(count: number): Promise<{ url: string; sql: postgres.Sql }> {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const sql = ownerOf(url)
  await applyEarlier(sql, count)
  return { url, sql }
}

describe('the first migration', () => {
  const fresh = storeOfTests()
  const catalogOfFresh = () => readCatalog(ownerOf(fresh.url))

  it('creates the same catalog as the earlier chain', async () => {
    const { url, sql } = await earlierDatabase(earlierMigrations.length)
    expect((await inspectServer({ url })).migrationsPending).toEqual(migrations)
    expect(await migrate({ url })).toEqual({ applied: migrations })
    expect(await migrate({ url })).toEqual({ applied: [] })
    const catalog = await readCatalog(sql)
    expect(catalog.length).toBeGreaterThan(700)
    expect(catalog).toEqual(await catalogOfFresh())
  })

  it('is recorded for a database that stopped within the earlier chain, after the rest of that chain', async () => {
    const { url, sql } = await earlierDatabase(FIRST_KEPT)
    const missing = [...earlierMigrations.slice(FIRST_KEPT).map((name) => `before-1/${name}`), ...migrations]
    const before = await inspectServer({ url })
    expect(before.migrationsPending).toEqual(missing)
    expect(before.migrationsApplied).toHaveLength(FIRST_KEPT)
    // Any number of processes may do so at once.
    const results = await Promise.all(Array.from({ length: 5 }, () => migrate({ url })))
    expect(results.filter(({ applied }) => applied.length > 0)).toEqual([{ applied: missing }])
    expect(await inspectServer({ url })).toMatchObject({ migrationsPending: [], migrationsApplied: migrations })
    const [recorded] = await sql`
      select count(*)::integer as rows, count(distinct hash)::integer as hashes from heddle_migrations.applied`
    const count = earlierMigrations.length + migrations.length
    expect(recorded).toEqual({ rows: count, hashes: count })
    expect(await readCatalog(sql)).toEqual(await catalogOfFresh())
  })

  it('creates the columns that the schema declares', async () => {
    const found = await ownerOf(fresh.url)<{ column: string }[]>`
      select concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), case when attnotnull then 'not null' end)
        as column
      from pg_attribute join pg_class on pg_class.oid = attrelid and relkind in ('r', 'p')
      where relnamespace = 'heddle'::regnamespace and attnum > 0 and not attisdropped`
    expect(found.map(({ column }) => column).sort()).toEqual(declaredColumns().sort())
  })
})

interface Snapshot {
  readonly tables: Readonly<
    Record<string, { name: string; columns: Record<string, { name: string; type: string; notNull: boolean }> }>
  >
}

/** From the snapshot, which `schema.test.ts` of the store compares with its declarations. */
function declaredColumns(): string[] {
  const folder = new URL('../../../packages/store/migrations/meta/', import.meta.url)
  const journal = JSON.parse(readFileSync(new URL('_journal.json', folder), 'utf8')) as { entries: { idx: number }[] }
  const newest = `${journal.entries.at(-1)?.idx ?? 0}`.padStart(4, '0')
  const { tables } = JSON.parse(readFileSync(new URL(`${newest}_snapshot.json`, folder), 'utf8')) as Snapshot
  return Object.values(tables).flatMap((table) =>
    Object.values(table.columns).map(({ name, type, notNull }) =>
      [table.name, name, spelled(type), ...(notNull ? ['not null'] : [])].join(' '),
    ),
  )
}

/** As Postgres spells a type. */
function spelled(type: string): string {
  return type.replace('timestamp (3)', 'timestamp(3)').replace(' collate "C"', '')
}
