import { migrate } from '@heddle/store'
import { freshDatabase } from '@heddle/test-support'
import { startPglite } from '@heddle/test-support/servers/pglite-server'
import postgres from 'postgres'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readCatalog } from './catalog.js'
import { applyEarlier, earlierMigrations } from './earlier-chain.js'

/** The catalog of a database that has stopped after `count` migrations of the earlier chain, once it is migrated. */
async function migratedCatalog(url: string, count: number): Promise<string[]> {
  await withSql(url, (sql) => applyEarlier(sql, count))
  await migrate({ url })
  return await withSql(url, readCatalog)
}

/** One connection at a time, the limit of Postgres in this process. */
async function withSql<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

async function emptyDatabase(): Promise<string> {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  return url
}

describe('a database of a version before the first release', () => {
  let expected: string[]
  beforeAll(async () => {
    const { url, drop } = await freshDatabase()
    expected = await migratedCatalog(url, 0)
    await drop()
  })

  it.each(earlierMigrations.map((name, index) => ({ name, count: index + 1 })))(
    'that stopped at $name gets the catalog of a new database',
    async ({ count }) => {
      expect(await migratedCatalog(await emptyDatabase(), count)).toEqual(expected)
    },
  )
})

it('with pgvector, the first migration and the earlier chain create the same catalog, vector tables included', async () => {
  const catalogs: string[][] = []
  for (const count of [0, earlierMigrations.length]) {
    const pglite = await startPglite()
    onTestFinished(() => pglite.close())
    catalogs.push(await migratedCatalog(pglite.url, count))
  }
  expect(catalogs[0]?.filter((line) => line.includes('vector_points')).length).toBeGreaterThan(10)
  expect(catalogs[1]).toEqual(catalogs[0])
})
