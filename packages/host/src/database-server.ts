import { startEmbeddedPostgres } from '@heddle/embedded'
import { migrateQueues, openQueues } from '@heddle/queue'
import type { Config, Logger } from '@heddle/runtime'
import { migrate } from '@heddle/store'
import type { HostContext } from './context.js'
import { assertData } from './data-folder.js'
import { enterFolder } from './presence/data-folder-users.js'

/** Where the data is. */
export interface DatabaseServer {
  readonly kind: 'embedded' | 'external'
  /** For services, as a role that row-level security binds. */
  readonly url: string
  /** For migrations. */
  readonly adminUrl: string
  /** Whether this process started it and stops it in the end. */
  readonly owned: boolean
  stop(): Promise<void>
}

/** The role as which services work in the store. */
const APP_ROLE = 'heddle_app'

export interface OpenServerOptions {
  readonly context: HostContext
  readonly config: Config
  readonly log: Logger
  /** False for data that nobody misses after a power cut. */
  readonly durable: boolean
}

/**
 * Starts the embedded server of the data folder, or joins the one that runs there; or names the server of DATABASE_URL.
 *
 * @throws PermanentError `NOT_FOUND` where the folder holds no data and the command makes none
 */
export async function openServer({ context, config, log, durable }: OpenServerOptions): Promise<DatabaseServer> {
  if (config.databaseUrl !== null) {
    return {
      kind: 'external',
      url: config.databaseUrl,
      adminUrl: config.adminDatabaseUrl ?? config.databaseUrl,
      owned: false,
      stop: async () => undefined,
    }
  }
  const { dataDir } = config
  if (!context.mayMakeData()) await assertData(dataDir)
  const stay = await enterFolder(dataDir, context.signal)
  try {
    const embedded = await startEmbeddedPostgres({ dataDir, durable, log })
    return {
      kind: 'embedded',
      url: embedded.url,
      adminUrl: embedded.adminUrl,
      owned: embedded.owned,
      async stop() {
        if (!embedded.owned) return await stay.leave()
        await stay.leaveLast({
          signal: context.signal,
          onWait: (pids) =>
            context.printer.note(`done; waiting for process ${pids.join(', ')}, which uses the same server`),
          close: () => embedded.stop(),
        })
      },
    }
  } catch (error) {
    await stay.leave()
    throw error
  }
}

/** Where the queues are. */
export function backendOf(config: Config, server: DatabaseServer): Parameters<typeof openQueues>[0]['backend'] {
  if (config.redisUrl !== null) return { kind: 'redis', url: config.redisUrl }
  return { kind: 'postgres', url: server.url }
}

/** Makes the prefix known on Redis, so that producers may begin before the first worker does. */
async function makePrefix(config: Config, server: DatabaseServer, log: Logger): Promise<void> {
  try {
    const queues = await openQueues({
      backend: backendOf(config, server),
      prefix: config.queuePrefix,
      log,
      create: true,
    })
    await queues.close()
  } catch (error) {
    // The tables do not wait for Redis, and the first worker does the same.
    log.warn({ error }, 'the queues were not looked at')
  }
}

/** Brings the store's tables, and where the queues are in Postgres theirs, to this version. */
export async function migrateAll(config: Config, server: DatabaseServer, log: Logger): Promise<string[]> {
  const { applied } = await migrate({ url: server.adminUrl, log })
  if (config.redisUrl === null) {
    await migrateQueues({ url: server.adminUrl, prefix: config.queuePrefix, grantTo: APP_ROLE })
  } else {
    await makePrefix(config, server, log)
  }
  return applied
}
