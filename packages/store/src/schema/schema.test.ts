import { readFileSync } from 'node:fs'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { getTableColumns, is } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import * as schema from './index.js'

const META = new URL('../../migrations/meta/', import.meta.url)

/** What the newest migration says that the schema is. */
function newestSnapshot(): Parameters<typeof generateMigration>[0] {
  const journal = JSON.parse(readFileSync(new URL('_journal.json', META), 'utf8')) as { entries: { idx: number }[] }
  const newest = `${journal.entries.at(-1)?.idx ?? 0}`.padStart(4, '0')
  return JSON.parse(readFileSync(new URL(`${newest}_snapshot.json`, META), 'utf8'))
}

test('drizzle-kit has no migration to generate: the newest snapshot is of the declared schema', async () => {
  const stored = newestSnapshot()
  const generated = { ...generateDrizzleJson(schema, stored.prevId, ['heddle']), id: stored.id }
  const declared = JSON.parse(JSON.stringify(generated)) as typeof generated
  // Compared first: where a table or a column may have been renamed, drizzle-kit asks at the terminal.
  expect(declared, 'run "npm run build" and, in packages/store, "npx drizzle-kit generate"').toEqual(stored)
  expect(await generateMigration(stored, declared)).toEqual([])
})

test('each column is declared under the name that queries return it by, so that rows have the inferred types', () => {
  const columns = Object.values<unknown>(schema).flatMap((table) =>
    is(table, PgTable) ? Object.entries(getTableColumns(table)) : [],
  )
  expect(columns.length).toBeGreaterThan(400)
  for (const [name, column] of columns) {
    // A query selects a time as milliseconds: `created_at as created_at_ms`.
    const isTime = column.getSQLType().startsWith('timestamp')
    expect(name).toBe(postgres.toCamel(isTime ? `${column.name}_ms` : column.name))
  }
})
