import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@heddle/embedded'
import type { QueuesOptions } from '@heddle/queue'
import { createLogger } from '@heddle/runtime'
import { migrate } from '@heddle/store'
import { closeLater } from '@heddle/test-support/closing'
import { onPostgres } from '@heddle/test-support/servers/queue-server'
import { freePort, startRedisServer } from '@heddle/test-support/servers/redis-server'
import { openTcpProxy, type TcpProxy } from '@heddle/test-support/servers/tcp-proxy'
import { isRedisInstalled } from '@heddle/test-support/servers/test-redis'
import { waitFor } from '@heddle/test-support/wait-for'
import type { ServerName } from './plan.js'

export const backendNames = ['redis', 'postgres'] as const
export type BackendName = (typeof backendNames)[number]

/** The addresses of the store and the queues. */
export interface Addresses {
  readonly databaseUrl: string
  readonly queue: QueuesOptions['backend']
}

/** Servers of the run's own, durable, with a migrated database; `closeAll` removes them. */
export interface Servers {
  readonly backend: BackendName
  /** For the disturbing and the checking process. */
  readonly direct: Addresses
  /** Through proxies, for the disturbed processes. */
  readonly disturbed: Addresses
  readonly proxies: Readonly<Partial<Record<ServerName, TcpProxy>>>
  /** `kill -9`, and a restart from its log. */
  killRedis(): Promise<void>
  /** An immediate shutdown, which is a crash to its clients and its data, and a restart. */
  restartPostgres(): Promise<void>
}

const RESTART_MS_MAX = 120_000

/** @throws Error if the backend needs a `redis-server` that is not installed */
export async function openServers(backend: BackendName): Promise<Servers> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-chaos-'))
  closeLater(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const postgres = await openPostgres(join(folder, 'postgres'))
  await migrate({ url: postgres.url })
  const postgresProxy = await openProxy(postgres.url)
  if (backend === 'postgres') {
    const addressesOf = (url: string): Addresses => ({ databaseUrl: url, queue: { kind: 'postgres', url } })
    return {
      backend,
      direct: addressesOf(postgres.url),
      disturbed: addressesOf(postgresProxy.url),
      proxies: { postgres: postgresProxy },
      killRedis: () => Promise.reject(new Error('there is no Redis')),
      restartPostgres: postgres.restart,
    }
  }
  const redis = await openRedis(folder)
  const redisProxy = await openProxy(redis.url)
  return {
    backend,
    direct: { databaseUrl: postgres.url, queue: { kind: 'redis', url: redis.url } },
    disturbed: { databaseUrl: postgresProxy.url, queue: { kind: 'redis', url: redisProxy.url } },
    proxies: { postgres: postgresProxy, redis: redisProxy },
    killRedis: redis.restart,
    restartPostgres: postgres.restart,
  }
}

async function openProxy(target: string): Promise<TcpProxy> {
  const proxy = await openTcpProxy(target)
  closeLater(() => proxy.stop())
  return proxy
}

interface Restartable {
  readonly url: string
  restart(): Promise<void>
}

/** The Postgres of the embedded package, which restarts a server that died. */
async function openPostgres(dataDir: string): Promise<Restartable> {
  const server = await startEmbeddedPostgres({ dataDir, log: createLogger({ level: 'fatal', name: 'chaos' }) })
  closeLater(() => server.stop())
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
  const readPid = async () => Number((await readFile(pidFile, 'utf8')).split('\n')[0])
  return {
    url: server.adminUrl,
    async restart() {
      const pid = await readPid()
      process.kill(pid, 'SIGQUIT')
      await waitFor(async () => (await readPid()) !== pid && isUp(server.adminUrl), {
        what: 'Postgres to be back',
        timeoutMs: RESTART_MS_MAX,
        everyMs: 50,
      })
    },
  }
}

async function isUp(url: string): Promise<boolean> {
  await onPostgres(url, 'select 1')
  return true
}

/** A Redis that logs every write, and flushes the log to the disk each second. */
export async function openRedis(folder: string): Promise<Restartable> {
  if (!(await isRedisInstalled())) throw new Error('no redis-server is installed (apt-get install redis-server)')
  const port = await freePort()
  const start = () => startRedisServer({ folder, port, settings: { appendonly: 'yes', appendfsync: 'everysec' } })
  let server = await start()
  closeLater(() => server.stop())
  return {
    url: server.url,
    async restart() {
      await server.kill()
      server = await start()
    },
  }
}
