import type { OpenClientOptions, OpenedClient } from '@heddle/client/connect'
import { openQueues, type Queues } from '@heddle/queue'
import { type Config, createLogger, type Logger, loadConfig, strategyModulesOf, systemClock } from '@heddle/runtime'
import { assertMigrated, openStore, type Store } from '@heddle/store'
import { createClient } from '../client.js'
import { DirectAppends } from '../messages/direct-appends.js'
import { loadStrategyModules } from '../strategy-modules.js'

/** A program without workers needs few connections, because statements are short. */
const CONNECTIONS_MAX = 4
const PRODUCER_CONNECTIONS_MAX = 2
const CLOSE_MS = 6_000
const BYTES_PER_MEGABYTE = 1024 * 1024

/**
 * Opens the configured store and queues, and creates a client on them. On a failure everything that was opened is closed.
 * Searches use only words, because queries are embedded by processes with a model.
 *
 * @returns the data folder instead if the configuration names no database
 * @throws PermanentError `VALIDATION_ERROR` with all faults of the configuration
 * @throws RetryableError `SERVICE_UNAVAILABLE` if a server is down
 */
export async function openClient({ env, cwd, ...given }: OpenClientOptions): Promise<OpenedClient> {
  const config = loadConfig({ env, cwd, flags: given })
  if (config.databaseUrl === null) return { kind: 'embedded', dataDir: config.dataDir }
  const { modules, baseDir } = strategyModulesOf({ env, cwd })
  await loadStrategyModules(modules, baseDir)
  // A library logs only if a level is set: its lines would be mixed with the program's output.
  const log = createLogger({ level: env['HEDDLE_LOG_LEVEL'] ? config.logLevel : 'silent', name: 'heddle' })
  const store = openStore({
    url: config.databaseUrl,
    databases: config.databases,
    applicationName: 'heddle client',
    connectionsMax: config.connections.store ?? CONNECTIONS_MAX,
    vectorCacheBytesMax: config.vectorCacheMegabytes * BYTES_PER_MEGABYTE,
    log,
  })
  try {
    const queues = await openCheckedQueues(store, config, config.directDatabaseUrl ?? config.databaseUrl, log)
    const { project, settings, settingLayers } = config
    const directAppends = config.queue.directAppends
      ? new DirectAppends({ store, queues, clock: systemClock, log })
      : null
    return {
      kind: 'queue',
      client: createClient({ store, queues, project, settings, settingLayers, log, directAppends }),
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

async function openCheckedQueues(store: Store, config: Config, directUrl: string, log: Logger): Promise<Queues> {
  await store.ping()
  await assertMigrated(store)
  return await openQueues({
    backend: config.redisUrl === null ? { kind: 'postgres', url: directUrl } : { kind: 'redis', url: config.redisUrl },
    prefix: config.queuePrefix,
    log,
    connections: { producersMax: PRODUCER_CONNECTIONS_MAX, workersMax: 0 },
    ingestLimits: { jobsMax: config.queue.ingestJobsMax, bytesMax: config.queue.ingestBytesMax },
  })
}
