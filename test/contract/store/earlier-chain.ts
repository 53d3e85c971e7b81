import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type postgres from 'postgres'

const FOLDER = fileURLToPath(new URL('../../../packages/store/migrations/', import.meta.url))
const EARLIER_FOLDER = `${FOLDER}before-1/`

interface Journal {
  readonly entries: readonly { readonly tag: string; readonly when: number }[]
}

const entriesOf = (folder: string) =>
  (JSON.parse(readFileSync(`${folder}meta/_journal.json`, 'utf8')) as Journal).entries
const earlier = entriesOf(EARLIER_FOLDER)

/** The migrations of the versions before the first release, oldest first. */
export const earlierMigrations = earlier.map(({ tag }) => tag)

/** Applies and records the first `count` migrations of the earlier chain, as those versions did. */
export async function applyEarlier(sql: postgres.Sql, count: number): Promise<void> {
  await apply(sql, EARLIER_FOLDER, earlier.slice(0, count))
}

/** Applies and records the migrations before one of them, as the version before it did. */
export async function applyBefore(sql: postgres.Sql, tag: string): Promise<void> {
  const entries = entriesOf(FOLDER)
  const count = entries.findIndex((entry) => entry.tag === tag)
  await apply(sql, FOLDER, entries.slice(0, count))
}

async function apply(sql: postgres.Sql, folder: string, entries: Journal['entries']): Promise<void> {
  if (entries.length === 0) return
  await sql`create schema if not exists heddle_migrations`
  await sql`
    create table if not exists heddle_migrations.applied (id serial primary key, hash text not null, created_at bigint)`
  await sql.begin(async (tx) => {
    for (const { tag, when } of entries) {
      const text = readFileSync(`${folder}${tag}.sql`, 'utf8')
      for (const statement of text.split('--> statement-breakpoint')) await tx.unsafe(statement)
      const hash = createHash('sha256').update(text).digest('hex')
      await tx`insert into heddle_migrations.applied (hash, created_at) values (${hash}, ${when})`
    }
  })
}
