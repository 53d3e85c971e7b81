import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createLogger } from '@heddle/runtime'
import { closeLater } from '@heddle/test-support/closing'
import { type BackendName, openRedis } from '../servers.js'

/** An empty store, and an empty Redis, on free ports. `closeAll` removes them. */
export interface DataServers {
  readonly folder: string
  /** The login of services. */
  readonly databaseUrl: string
  /** The login of the tables' owner. */
  readonly adminUrl: string
  readonly redisUrl: string | null
}

/** @throws Error if the backend needs a `redis-server` that is not installed */
export async function openDataServers(backend: BackendName): Promise<DataServers> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-rolling-'))
  closeLater(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  // Started by root, Postgres runs as another user, which must be able to pass through this folder.
  await chmod(folder, 0o711)
  const log = createLogger({ level: 'fatal', name: 'chaos' })
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log })
  closeLater(() => postgres.stop())
  const redis = backend === 'redis' ? await openRedis(folder) : null
  return { folder, databaseUrl: postgres.url, adminUrl: postgres.adminUrl, redisUrl: redis?.url ?? null }
}
