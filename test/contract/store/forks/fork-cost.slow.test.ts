import { forkThread } from '@heddle/store'
import { expect, test } from 'vitest'
import { asOwner } from '../erasure/erasure-support.js'
import { fillThread } from '../messages/long-threads.js'
import { PROJECT, storeOfTests } from '../support.js'

const database = storeOfTests()
const MESSAGES = 1_000_000
const TOOK_MS_MAX = 50
const BYTES_MAX = 100_000

async function bytesOf(): Promise<number> {
  const [row] = await asOwner(
    database.url,
    async (sql) =>
      await sql<{ bytes: string }[]>`
        select sum(pg_total_relation_size(oid)) as bytes from pg_class
        where relnamespace = 'heddle'::regnamespace and relkind = 'r'`,
  )
  return Number(row?.bytes)
}

test('a fork of a million messages takes at most 50 ms, and 100 kB on the disk', async () => {
  await fillThread(database, 'long', MESSAGES)
  const fork = (name: string) =>
    database.store.inProject(PROJECT, (tx) => forkThread(tx, { projectId: PROJECT, origin: 'long', name, atSeq: null }))
  // The first one compiles the statements of a new connection, and makes the first page of each table.
  const startedAt = performance.now()
  await fork('first')
  const firstMs = performance.now() - startedAt
  const before = await bytesOf()
  const times: number[] = []
  for (let round = 0; round < 200; round++) {
    const from = performance.now()
    await fork(`fork ${round}`)
    times.push(performance.now() - from)
  }
  const bytes = ((await bytesOf()) - before) / times.length
  const medianMs = times.sort((left, right) => left - right)[100] ?? Number.POSITIVE_INFINITY
  process.stdout.write(`${JSON.stringify({ name: 'fork.1m', firstMs, medianMs, slowestMs: times.at(-1), bytes })}\n`)
  expect(medianMs).toBeLessThanOrEqual(TOOK_MS_MAX)
  expect(bytes).toBeLessThanOrEqual(BYTES_MAX)
}, 600_000)
