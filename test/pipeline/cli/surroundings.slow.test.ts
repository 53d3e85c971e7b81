import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshPrefix, postgresUrl, redisUrl } from '@heddle/test-support'
import { onPostgres, onRedis } from '@heddle/test-support/servers/queue-server'
import { freePort, startRedisServer } from '@heddle/test-support/servers/redis-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabaseHome, type Ran } from './cli-support.js'

type Check = { name: string; status: string; detail: string; hint: string }
const checkOf = (ran: Ran, name: string, status: string): Check | undefined =>
  (ran.document.checks as Check[]).find((check) => check.name === name && check.status === status)

/** The answer of a process's `/readyz`. */
async function readyz(port: number): Promise<{ status: number; detail: string; hint: string }> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`)
  return { ...((await response.json()) as { detail: string; hint: string }), status: response.status }
}

describe('/readyz and the doctor name a fault of a server, and recover once its cause is gone:', () => {
  test('a database that is read-only', async () => {
    const home = await openDatabaseHome()
    const name = new URL(home.databaseUrl).pathname.slice(1)
    const worker = home.start(['worker', 'prune', '--port', '0', '--json'])
    const { port } = JSON.parse(await worker.firstLine) as { port: number }
    expect((await readyz(port)).status).toBe(200)
    await onPostgres(
      postgresUrl(),
      `alter database "${name}" set default_transaction_read_only = on;
       select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    )
    await expect
      .poll(() => readyz(port), { timeout: 20_000 })
      .toMatchObject({
        status: 503,
        detail: expect.stringMatching(/Postgres \(store\): Postgres is read-only.*no jobs can be added/),
        hint: expect.stringContaining('default_transaction_read_only'),
      })
    const ran = await home.heddle('doctor', '--json')
    expect(checkOf(ran, 'database', 'fail')).toMatchObject({
      detail: expect.stringContaining('read-only'),
      hint: expect.stringContaining('DATABASE_URL'),
    })
    await onPostgres(postgresUrl(), `alter database "${name}" reset default_transaction_read_only`)
    await expect.poll(() => readyz(port).then(({ status }) => status), { timeout: 20_000 }).toBe(200)
    worker.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })

  test.skipIf(redisUrl() === null)('a Redis that is full', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-test-redis-'))
    const redis = await startRedisServer({ folder, port: await freePort() })
    onTestFinished(async () => {
      await redis.stop()
      await rm(folder, { recursive: true, force: true })
    })
    const home = (await openDatabaseHome()).under({ REDIS_URL: redis.url, HEDDLE_QUEUE_PREFIX: freshPrefix() })
    const worker = home.start(['worker', 'prune', '--port', '0', '--json'])
    const { port } = JSON.parse(await worker.firstLine) as { port: number }
    await onRedis(redis.url, ['CONFIG', 'SET', 'maxmemory', '1'])
    expect(await readyz(port)).toMatchObject({
      status: 503,
      detail: expect.stringMatching(/Redis \(queues\): Redis is full.* MB used of/),
      hint: expect.stringContaining('Raise maxmemory'),
    })
    const ran = await home.heddle('doctor', '--json')
    expect(checkOf(ran, 'queues', 'fail')).toMatchObject({
      detail: expect.stringContaining('Redis is full'),
      hint: expect.stringContaining('maxmemory'),
    })
    await onRedis(redis.url, ['CONFIG', 'SET', 'maxmemory', '0'])
    await expect.poll(() => readyz(port).then(({ status }) => status), { timeout: 20_000 }).toBe(200)
    worker.kill('SIGTERM')
    const { code, stderr } = await worker.ended
    expect(code).toBe(0)
    for (const line of stderr.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
  })
})
