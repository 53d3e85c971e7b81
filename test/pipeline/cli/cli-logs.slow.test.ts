import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { redisUrl } from '@heddle/test-support'
import { freePort, startRedisServer } from '@heddle/test-support/servers/redis-server'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabaseHome, type Ran } from './cli-support.js'

interface LogLine {
  readonly level?: number
  readonly msg?: string
  readonly status?: unknown
  readonly signal?: string
}

/** Both outputs as a log collector of containers gets them; each line must be JSON. */
function linesOf({ stdout, stderr }: Ran): LogLine[] {
  return `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** A Redis that makes BullMQ print a warning. */
async function evictingRedis(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-test-redis-'))
  const server = await startRedisServer({
    folder,
    port: await freePort(),
    settings: { 'maxmemory-policy': 'allkeys-lru' },
  })
  onTestFinished(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })
  return server.url
}

test('heddle up writes only JSON lines without a terminal, and they report start, refusals and stop', async () => {
  const home = await openDatabaseHome()
  const made = await home.heddle('keys', 'create', '--name', 'reader', '--role', 'read', '--json')
  const { key } = made.document
  const up = home.start(['up', '--port', '0'])
  const { url } = JSON.parse(await up.firstLine)
  const statuses: number[] = []
  for (const [path, method, authorization] of [
    ['/v1/agents', 'GET', 'Bearer of-nobody'],
    ['/v1/agents/coder', 'PUT', `Bearer ${key}`],
    ['/v1/agents', 'GET', `Bearer ${key}`],
  ] as const) {
    const body: RequestInit =
      method === 'PUT'
        ? { body: '{}', headers: { authorization, 'content-type': 'application/json' } }
        : { headers: { authorization } }
    statuses.push((await fetch(`${url}${path}`, { method, ...body })).status)
  }
  expect(statuses).toEqual([401, 403, 200])
  up.kill('SIGTERM')
  const ran = await up.ended
  const infos = linesOf(ran).filter(({ level }) => level === 30)
  const told = infos.map(({ msg, status, signal }) => [msg, status ?? signal])
  expect(told[0]).toEqual(['starting', undefined])
  expect(told).toContainEqual(['ready', undefined])
  expect(told.slice(-4)).toEqual([
    ['request refused', 401],
    ['request refused', 403],
    ['stopping', 'SIGTERM'],
    ['stopped', undefined],
  ])
  expect(`${ran.stdout}${ran.stderr}`).not.toContain(key)
  expect(`${ran.stdout}${ran.stderr}`).not.toContain('of-nobody')
})

test.skipIf(redisUrl() === null)('a fault in the settings of Redis is one line in the log of a worker', async () => {
  const home = await openDatabaseHome({ REDIS_URL: await evictingRedis() })
  const worker = home.start(['worker', 'prune'])
  await worker.firstLine
  worker.kill('SIGTERM')
  const lines = linesOf(await worker.ended)
  expect(lines.filter(({ msg }) => /allkeys-lru/.test(String(msg)))).toMatchObject([{ level: 40 }])
  expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['starting', 'ready', 'stopping', 'stopped']))
})
