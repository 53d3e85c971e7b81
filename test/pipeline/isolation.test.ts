import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Served, serve } from './http-support.js'
import { attack, settleTenants, type Tenant } from './isolation-attack.js'
import { openPipeline, type Pipeline } from './support.js'

/** `npm run attack` asks for 100,000. */
const OPERATIONS = Number(process.env['HEDDLE_ATTACK_OPERATIONS'] ?? 300)
const SEED = 4_680

let pipeline: Pipeline
let http: Served
let tenants: Tenant[]

beforeAll(async () => {
  pipeline = await openPipeline('postgres')
  await pipeline.start()
  http = await serve(pipeline)
  tenants = await settleTenants(pipeline, 10)
}, 60_000)
afterAll(async () => {
  await http?.gateway.close()
  await pipeline?.close()
})

/** Mulberry32: the same attempts at every run. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test(`no secret crosses in ${OPERATIONS} operations with ids, references and cursors of other projects`, async () => {
  const { done, crossings } = await attack({ pipeline, http, tenants, operations: OPERATIONS, random: randomOf(SEED) })
  expect(crossings).toEqual([])
  expect(done).toBeGreaterThanOrEqual(OPERATIONS)
  // That each was there to be found: its owner sees it in the same answers.
  for (const { headers, contextId, canary } of tenants) {
    const own = await (await fetch(`${http.url}/v1/contexts/${contextId}`, { headers })).text()
    expect(own).toContain(canary)
  }
}, 1_200_000)

test('the same holds by the code alone, where row-level security is off', async () => {
  const sql = postgres(pipeline.databaseUrl, { max: 1, onnotice: () => {} })
  const switchAll = async (state: 'disable' | 'enable') => {
    for (const { name } of await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'heddle'`) {
      await sql.unsafe(`alter table ${name} ${state} row level security`)
    }
  }
  await switchAll('disable')
  try {
    const { crossings } = await attack({ pipeline, http, tenants, operations: 300, random: randomOf(SEED + 1) })
    expect([...new Set(crossings.map(({ operation }) => operation))]).toEqual([])
  } finally {
    await switchAll('enable')
    await sql.end()
  }
}, 120_000)

test('where the project of a key is not heeded either, the attack finds it', async () => {
  const [victim] = tenants
  if (victim === undefined) throw new Error('there are no tenants')
  const open = await serve(pipeline, {
    backend: () => ({
      clientOf: () => victim.client,
      keys: { read: async (key) => ({ project: key.slice(-8), role: 'admin' }), hasAny: async () => true },
      readStageStats: async () => [],
      checkReady: async () => undefined,
    }),
  })
  try {
    const { crossings } = await attack({ pipeline, http: open, tenants, operations: 200, random: randomOf(SEED + 2) })
    expect(new Set(crossings.map(({ operation }) => operation)).size).toBeGreaterThan(5)
  } finally {
    await open.gateway.close()
  }
})
