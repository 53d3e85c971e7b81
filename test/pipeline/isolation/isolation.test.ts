import { appendFile } from 'node:fs/promises'
import { type Measured, toFigure } from '@heddle/test-support/figure'
import { randomOf } from '@heddle/test-support/random'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Connections } from '../doors/http-connections.js'
import { type Served, serve } from '../doors/http-support.js'
import { openPipeline, type Pipeline } from '../support.js'
import { attack, attemptNames } from './isolation-attack.js'
import { settleTenants, type Tenant } from './isolation-tenants.js'

/** `npm run attack` sets 100,000. */
const OPERATIONS = Number(process.env['HEDDLE_ATTACK_OPERATIONS'] ?? 250)
const OPERATIONS_SHORT = Math.max(150, OPERATIONS / 20)
/** File for the results of `npm run attack`. */
const FIGURES = process.env['HEDDLE_ATTACK_FIGURES']
const SHORT_MS_MAX = Math.max(120_000, OPERATIONS_SHORT * 120)
const SEED = 4_680
const TENANTS = 10
const CONNECTIONS = 24
const SAY_EVERY = 5_000

/** The project check of the queries, so that a test can disable it. */
const codeCheck = vi.hoisted(() => ({ isMade: true }))
vi.mock('../../../packages/store/src/sql/own-project.js', async (original) => {
  const { isOwn } = await original<typeof import('../../../packages/store/src/sql/own-project.js')>()
  return { isOwn: (...given: Parameters<typeof isOwn>) => (codeCheck.isMade ? isOwn(...given) : given[0]`true`) }
})

let pipeline: Pipeline
let served: Served
let http: Connections
let tenants: Tenant[]

beforeAll(async () => {
  // One server of queues: projects are kept apart in the store, and all of them share the queues on either server.
  pipeline = await openPipeline('postgres')
  await pipeline.start()
  served = await serve(pipeline)
  http = new Connections(served.url, CONNECTIONS)
  tenants = await settleTenants(pipeline, TENANTS)
}, 60_000)
afterAll(async () => {
  http?.close()
  await served?.gateway.close()
  await pipeline?.close()
})

const attackShortly = (seed: number) =>
  attack({ pipeline, http, tenants, operations: OPERATIONS_SHORT, random: randomOf(seed) })

async function tell(measured: Measured): Promise<void> {
  if (FIGURES !== undefined) await appendFile(FIGURES, `${JSON.stringify(toFigure(measured))}\n`)
}

/** `12 over HTTP, 3 over MCP` and so on, for all attempts. */
function ways(tried: ReadonlyMap<string, number>): string {
  const wayOf = (name: string) =>
    name.startsWith('MCP ') ? 'MCP' : name.startsWith('queue: ') ? 'the queue' : name === 'events' ? 'events' : 'HTTP'
  const counts = new Map<string, number>()
  for (const [name, times] of tried) counts.set(wayOf(name), (counts.get(wayOf(name)) ?? 0) + times)
  return [...counts].map(([way, times]) => `${times} over ${way}`).join(', ')
}

async function withoutRowSecurity<T>(work: () => Promise<T>): Promise<T> {
  const sql = postgres(pipeline.databaseUrl, { max: 1, onnotice: () => {} })
  const switchAll = async (state: 'disable' | 'enable') => {
    for (const { name } of await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'heddle'`) {
      await sql.unsafe(`alter table ${name} ${state} row level security`)
    }
  }
  await switchAll('disable')
  try {
    return await work()
  } finally {
    await switchAll('enable')
    await sql.end()
  }
}

async function withoutCodeCheck<T>(work: () => Promise<T>): Promise<T> {
  codeCheck.isMade = false
  try {
    return await work()
  } finally {
    codeCheck.isMade = true
  }
}

test(`no secret leaks in ${OPERATIONS} operations with ids, references and cursors of other projects`, async () => {
  const startedAtMs = performance.now()
  const perSecond = (done: number) => Math.round((done / (performance.now() - startedAtMs)) * 1_000)
  const { done, crossings, tried } = await attack({
    pipeline,
    http,
    tenants,
    operations: OPERATIONS,
    random: randomOf(SEED),
    onProgress(soFar) {
      if (soFar % SAY_EVERY === 0) process.stderr.write(`${soFar} operations, ${perSecond(soFar)}/s\n`)
    },
  })
  const name = 'isolation.crossings'
  const note = `${done} operations of ${tried.size} kinds, ${TENANTS} projects: ${ways(tried)}; ${perSecond(done)}/s`
  await tell({ name, value: crossings.length, unit: 'secrets', target: '<= 0', note })
  expect(crossings).toEqual([])
  expect(done).toBeGreaterThanOrEqual(OPERATIONS)
  expect([...tried.keys()].sort()).toEqual([...attemptNames].sort())
  // Each secret was there to be found, and was not damaged: its owner sees it in the same answers.
  for (const { headers, contextIds, snapshotId, thread, canary } of tenants) {
    const paths = [
      `/v1/contexts/${contextIds[0]}`,
      `/v1/snapshots/${snapshotId}`,
      `/v1/threads/${thread}/processes/build`,
    ]
    for (const path of paths) expect((await http.ask({ method: 'GET', path, headers })).text).toContain(canary)
  }
}, 3_600_000)

test(
  'no secret leaks when row-level security is off and only the code checks',
  async () => {
    const { crossings, done } = await withoutRowSecurity(() => attackShortly(SEED + 1))
    const note = `${done} operations without row-level security`
    await tell({ name: 'isolation.code', value: crossings.length, unit: 'secrets', target: '<= 0', note })
    expect(crossings).toEqual([])
  },
  SHORT_MS_MAX,
)

test(
  'no secret leaks when the code does not check and only row-level security does',
  async () => {
    const { crossings, done } = await withoutCodeCheck(() => attackShortly(SEED + 1))
    const note = `${done} operations without the conditions of the queries`
    await tell({ name: 'isolation.rows', value: crossings.length, unit: 'secrets', target: '<= 0', note })
    expect(crossings).toEqual([])
  },
  SHORT_MS_MAX,
)

test(
  'the same attack finds secrets without either of the two checks',
  async () => {
    const { crossings, done } = await withoutRowSecurity(() => withoutCodeCheck(() => attackShortly(SEED + 1)))
    const kinds = new Set(crossings.map(({ operation }) => operation)).size
    const note = `${crossings.length} secrets in ${done} operations without either: what this would find`
    await tell({ name: 'isolation.neither', value: kinds, unit: 'kinds of operations', target: '>= 6', note })
    expect(kinds).toBeGreaterThan(5)
  },
  SHORT_MS_MAX,
)
