import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import type { TestServers } from './provided.js'
import { removeDatabases, removeKeys } from './servers/leftovers.js'
import { startTestPostgres } from './servers/test-postgres.js'
import { startTestRedis } from './servers/test-redis.js'

interface Run {
  servers: TestServers
  users: number
  stop(): Promise<void>
}

/*
 * Vitest runs this file once for every project that names it, each time in a module graph of its own, but in one process. One
 * server of each kind is enough, so the first one starts them and the last one stops them.
 */
const shared = globalThis as typeof globalThis & { heddleTestRun?: Promise<Run> | undefined }

/** Vitest's global setup: one Postgres and, if possible, one Redis for the whole run; both are removed afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.heddleTestRun ??= startServers()
  const run = await shared.heddleTestRun
  run.users++
  project.provide('testServers', run.servers)
  return async () => {
    run.users--
    if (run.users > 0) return
    shared.heddleTestRun = undefined
    await run.stop()
  }
}

async function startServers(): Promise<Run> {
  const runId = randomBytes(4).toString('hex')
  const [postgres, redis] = await Promise.all([startTestPostgres(), startTestRedis()])
  if (redis.url === null) process.stdout.write(`Left out: everything that needs Redis, because ${redis.missing}\n`)
  return {
    servers: { runId, postgresUrl: postgres.url, redisUrl: redis.url, redisMissing: redis.missing },
    users: 0,
    async stop() {
      // Our own servers are removed as a whole; on given ones, data left by tests must not stay.
      if (!postgres.owned) await removeDatabases(postgres.url, runId)
      if (!redis.owned && redis.url !== null) await removeKeys(redis.url, runId)
      await Promise.all([postgres.stop(), redis.stop()])
    },
  }
}
