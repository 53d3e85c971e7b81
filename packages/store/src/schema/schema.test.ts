import { readFileSync } from 'node:fs'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
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
