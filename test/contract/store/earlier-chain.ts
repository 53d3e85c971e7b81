import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type postgres from 'postgres'

const FOLDER = fileURLToPath(new URL('../../../packages/store/migrations/before-1/', import.meta.url))

interface Journal {
  readonly entries: readonly { readonly tag: string; readonly when: number }[]
}

const { entries } = JSON.parse(readFileSync(`${FOLDER}meta/_journal.json`, 'utf8')) as Journal

/** The migrations of the versions before the first release, oldest first. */
export const earlierMigrations = entries.map(({ tag }) => tag)

/** Applies and records the first `count` migrations of the earlier chain, as those versions did. */
export async function applyEarlier(sql: postgres.Sql, count: number): Promise<void> {
  if (count === 0) return
  await sql`create schema if not exists heddle_migrations`
  await sql`
    create table if not exists heddle_migrations.applied (id serial primary key, hash text not null, created_at bigint)`
  await sql.begin(async (tx) => {
    for (const { tag, when } of entries.slice(0, count)) {
      const text = readFileSync(`${FOLDER}${tag}.sql`, 'utf8')
      for (const statement of text.split('--> statement-breakpoint')) await tx.unsafe(statement)
      const hash = createHash('sha256').update(text).digest('hex')
      await tx`insert into heddle_migrations.applied (hash, created_at) values (${hash}, ${when})`
    }
  })
}
