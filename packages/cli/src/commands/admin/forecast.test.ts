import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type CapacityPlanInput, capacityPlanSchema } from '@heddle/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../../run.js'

const plan: CapacityPlanInput = {
  seconds: 20,
  machines: { workers: { processors: 8 }, database: { processors: 8 } },
  servers: { postgres: { machine: 'database', connections: 100 } },
  pools: { ingest: { machine: 'workers', processes: 1 }, embed: { machine: 'workers', processes: 1, slots: 2 } },
  work: {
    append: {
      perSecond: 60,
      steps: [[{ pool: 'ingest', ownMs: 1, serverMs: { postgres: 1 } }], [{ pool: 'embed', ownMs: 25 }]],
    },
  },
}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-forecast-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function run(content: string, ...options: string[]) {
  await writeFile(join(folder, 'plan.json'), content)
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await runCli(['forecast', 'plan.json', ...options], { stdout, stderr, env: {}, cwd: folder })
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') }
}

test('names the pool that limits, and shows that another worker is enough', async () => {
  const alone = JSON.parse((await run(JSON.stringify(plan), '--json')).out)
  expect(alone).toMatchObject({ seconds: 20, limit: { part: 'thread', name: 'embed', isReached: true } })
  expect(alone.work.append.perSecond).toBeLessThan(45)
  const scaled = JSON.parse((await run(JSON.stringify(plan), '--json', '--processes', 'embed=3')).out)
  expect(scaled.limit.isReached).toBe(false)
  expect(scaled.work.append.perSecond).toBeGreaterThan(55)
  expect(scaled.pools.embed.processes).toBe(3)
})

test('prints tables for people, and the same forecast for the same seed', async () => {
  const { code, out } = await run(JSON.stringify(plan))
  expect(code).toBe(0)
  expect(out).toContain('20 simulated seconds; limited by the threads of embed, which is full')
  expect(out).toMatch(/machine workers +\d+ %/)
  expect((await run(JSON.stringify(plan))).out).toBe(out)
  expect((await run(JSON.stringify(plan), '--seed', '2')).out).not.toBe(out)
})

test('refuses an invalid plan with the field to change', async () => {
  const moved = { ...plan, pools: { ...plan.pools, embed: { machine: 'wokers', processes: 1 } } }
  const refused = await run(JSON.stringify(moved))
  expect(refused.code).toBe(1)
  expect(refused.err).toMatch(/pools\.embed\.machine: must be one of workers, database/)
  expect((await run('{"machines"')).err).toMatch(/file: is not JSON/)
  const both = { ...plan, work: { append: { ...plan.work['append'], backlog: 5 } } }
  expect((await run(JSON.stringify(both))).err).toMatch(/work\.append: must have either perSecond or backlog/)
})

test('refuses a pool that the plan does not have, with those that it has', async () => {
  const refused = await run(JSON.stringify(plan), '--processes', 'prune=2')
  expect(refused.code).toBe(2)
  expect(refused.err).toMatch(/is not a pool of this plan/)
  expect(refused.err).toContain('ingest, embed')
})

test('the plans of the documentation are valid, and the one shown there is forecast', async () => {
  const documented = (path: string) => readFile(new URL(`../../../../../docs/${path}`, import.meta.url), 'utf8')
  const large = capacityPlanSchema.parse(JSON.parse(await documented('examples/ten-million-agents.json')))
  expect(Object.keys(large.pools)).toEqual(['gateway', 'ingest', 'prune', 'summarize', 'embed', 'assemble'])
  const [, shown = ''] = /```json\n(\{\n {2}"machines".*?)```/s.exec(await documented('scale.md')) ?? []
  expect(JSON.parse((await run(shown, '--json', '--seconds', '5')).out).work.append.perSecond).toBeGreaterThan(250)
})
