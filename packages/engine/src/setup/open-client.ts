import type { OpenClientOptions, OpenedClient } from '@heddle/client/connect'
import { openQueues, type Queues } from '@heddle/queue'
import { type Config, createLogger, type Logger, loadConfig, strategyModulesOf, systemClock } from '@heddle/runtime'
import { assertMigrated, openStore, type Store } from '@heddle/store'
import { createClient } from '../client.js'
import { DirectAppends } from '../messages/direct-appends.js'
import { loadStrategyModules } from '../strategy-modules.js'

/** A program that only sends and asks needs few connections: statements are short. */
const CONNECTIONS_MAX = 4
const PRODUCER_CONNECTIONS_MAX = 2
const CLOSE_MS = 6_000
const BYTES_PER_MEGABYTE = 1024 * 1024

/**
 * Opens the store and the queues that the configuration names, and makes a client on them. What was opened before something
 * failed is closed again. Searches are by words alone: what embeds queries is for processes that hold a model.
 *
 * @returns the data folder instead where the configuration names no database
 * @throws PermanentError `VALIDATION_ERROR` that lists each fault of the configuration
 * @throws RetryableError `SERVICE_UNAVAILABLE` where a server is away
 */
export async function openClient({ env, cwd, ...given }: OpenClientOptions): Promise<OpenedClient> {
  const config = loadConfig({ env, cwd, flags: given })
  if (config.databaseUrl === null) return { kind: 'embedded', dataDir: config.dataDir }
  const { modules, baseDir } = strategyModulesOf({ env, cwd })
  await loadStrategyModules(modules, baseDir)
  // A library is silent unless it is asked to speak: its lines would stand among those of the program.
  const log = createLogger({ level: env['HEDDLE_LOG_LEVEL'] ? config.logLevel : 'silent', name: 'heddle' })
  const store = openStore({
    url: config.databaseUrl,
    applicationName: 'heddle client',
    connectionsMax: config.connections.store ?? CONNECTIONS_MAX,
    vectorCacheBytesMax: config.vectorCacheMegabytes * BYTES_PER_MEGABYTE,
    log,
  })
  try {
    const queues = await openCheckedQueues(store, config, config.databaseUrl, log)
    const { project, settings } = config
    const directAppends = config.queue.directAppends
      ? new DirectAppends({ store, queues, clock: systemClock, log })
      : null
    return {
      kind: 'queue',
      client: createClient({ store, queues, project, settings, log, directAppends }),
      async close() {
        await directAppends?.close()
        await queues.close({ timeoutMs: CLOSE_MS })
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openCheckedQueues(store: Store, config: Config, databaseUrl: string, log: Logger): Promise<Queues> {
  await store.ping()
  await assertMigrated(store)
  return await openQueues({
    backend:
      config.redisUrl === null ? { kind: 'postgres', url: databaseUrl } : { kind: 'redis', url: config.redisUrl },
    prefix: config.queuePrefix,
    log,
    connections: { producersMax: PRODUCER_CONNECTIONS_MAX, workersMax: 0 },
    ingestLimits: { jobsMax: config.queue.ingestJobsMax, bytesMax: config.queue.ingestBytesMax },
  })
}
