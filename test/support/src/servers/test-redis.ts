import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, startRedisServer } from './redis-server.js'

export type TestRedis = { owned: boolean; stop(): Promise<void> } & (
  | { url: string; missing: null }
  | { url: null; missing: string }
)

/**
 * The Redis of `REDIS_URL`, otherwise a `redis-server` of this machine on a free port in a temporary folder, otherwise null.
 *
 * @throws Error when there is no Redis although HEDDLE_REQUIRE_REDIS=1 requires one
 */
export async function startTestRedis(): Promise<TestRedis> {
  const given = process.env['REDIS_URL']
  if (given !== undefined && given !== '') return { url: given, missing: null, owned: false, stop: async () => {} }
  if (await isRedisInstalled()) return startOwnRedis()

  const missing = 'REDIS_URL is not set and no redis-server is installed (set it, or: apt-get install redis-server)'
  if (process.env['HEDDLE_REQUIRE_REDIS'] === '1') throw new Error(`HEDDLE_REQUIRE_REDIS=1, but ${missing}`)
  return { url: null, missing, owned: false, stop: async () => {} }
}

export async function isRedisInstalled(): Promise<boolean> {
  return promisify(execFile)('redis-server', ['--version']).then(
    () => true,
    () => false,
  )
}

async function startOwnRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-test-redis-'))
  const server = await startRedisServer({ folder, port: await freePort() })
  return {
    url: server.url,
    missing: null,
    owned: true,
    async stop() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
