import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@heddle/embedded'
import type { QueuesOptions } from '@heddle/queue'
import { createLogger } from '@heddle/runtime'
import { migrate, type StoreOptions } from '@heddle/store'
import { startTestRedis } from '@heddle/test-support/servers/test-redis'
import postgres from 'postgres'

export const backendNames = ['embedded', 'postgres', 'redis'] as const
export type BackendName = (typeof backendNames)[number]

/** The servers of one backend, with an empty, migrated database that only this run uses. */
export interface Servers {
  readonly backend: BackendName
  readonly databaseUrl: string
  readonly queue: QueuesOptions['backend']
  /** Further databases, to which projects may move. */
  readonly databases?: NonNullable<StoreOptions['databases']>
  /** Removes everything. */
  close(): Promise<void>
}

/** This machine lacks the server of a backend, so its figures are left out. */
export class MissingServer extends Error {
  override name = 'MissingServer'
}

/** @throws MissingServer */
export async function openServers(backend: BackendName): Promise<Servers> {
  const redis = backend === 'redis' ? await startTestRedis() : null
  if (redis?.url === null) throw new MissingServer(`${backend} is left out: ${redis.missing}`)
  const database = await openDatabase(backend)
  try {
    await migrate({ url: database.url })
  } catch (error) {
    await database.close()
    await redis?.stop()
    throw error
  }
  return {
    backend,
    databaseUrl: database.url,
    queue: redis === null ? { kind: 'postgres', url: database.url } : { kind: 'redis', url: redis.url },
    async close() {
      await database.close()
      await redis?.stop()
    },
  }
}

interface Database {
  readonly url: string
  close(): Promise<void>
}

/** Durable, as for users: commits that need not reach the disk would make both sides faster. */
async function openDatabase(backend: BackendName): Promise<Database> {
  const given = process.env['DATABASE_URL']
  if (backend !== 'embedded' && given !== undefined && given !== '') return await createDatabase(given)
  const dataDir = await mkdtemp(join(tmpdir(), 'heddle-bench-'))
  const server = await startEmbeddedPostgres({ dataDir, log: createLogger({ level: 'error', name: 'bench' }) })
  return {
    url: server.adminUrl,
    async close() {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function createDatabase(serverUrl: string): Promise<Database> {
  const name = `heddle_bench_${randomBytes(6).toString('hex')}`
  const onServer = async (work: (sql: postgres.Sql) => Promise<unknown>) => {
    const sql = postgres(serverUrl, { max: 1, onnotice: () => {} })
    try {
      await work(sql)
    } finally {
      await sql.end()
    }
  }
  await onServer((sql) => sql`create database ${sql(name)} encoding 'UTF8' template template0`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, close: () => onServer((sql) => sql`drop database if exists ${sql(name)} with (force)`) }
}
