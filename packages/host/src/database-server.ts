import { startEmbeddedPostgres } from '@heddle/embedded'
import { migrateQueues, openQueues } from '@heddle/queue'
import { type Config, DEFAULT_DATABASE, type Logger } from '@heddle/runtime'
import { migrate } from '@heddle/store'
import type { HostContext } from './context.js'
import { assertData } from './data-folder.js'
import { enterFolder } from './presence/data-folder-users.js'

export interface DatabaseServer {
  readonly kind: 'embedded' | 'external'
  /** For services, with a role that is subject to row-level security. */
  readonly url: string
  /** The same without a pooler, for the queues: they listen, and find their tables by a setting of the session. */
  readonly directUrl: string
  /** For migrations. */
  readonly adminUrl: string
  /** Whether this process started the server and will stop it. */
  readonly owned: boolean
  stop(): Promise<void>
}

/** The role of the services. */
const APP_ROLE = 'heddle_app'

export interface OpenServerOptions {
  readonly context: HostContext
  readonly config: Config
  readonly log: Logger
  /** False for disposable data, which a power cut may destroy. */
  readonly durable: boolean
}

/**
 * The server of DATABASE_URL, or the embedded server of the data folder, which is started or joined.
 *
 * @throws PermanentError `NOT_FOUND` if the folder holds no data and the command creates none
 */
export async function openServer({ context, config, log, durable }: OpenServerOptions): Promise<DatabaseServer> {
  if (config.databaseUrl !== null) {
    const directUrl = config.directDatabaseUrl ?? config.databaseUrl
    return {
      kind: 'external',
      url: config.databaseUrl,
      directUrl,
      adminUrl: config.adminDatabaseUrl ?? directUrl,
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
      directUrl: embedded.url,
      adminUrl: embedded.adminUrl,
      owned: embedded.owned,
      async stop() {
        if (!embedded.owned) return await stay.leave()
        await stay.leaveLast({
          signal: context.signal,
          onWait: (pids) =>
            context.printer.note(`done; waiting for process ${pids.join(', ')}, which still uses the server`),
          close: () => embedded.stop(),
        })
      },
    }
  } catch (error) {
    await stay.leave()
    throw error
  }
}

export function backendOf(config: Config, server: DatabaseServer): Parameters<typeof openQueues>[0]['backend'] {
  if (config.redisUrl !== null) return { kind: 'redis', url: config.redisUrl }
  return { kind: 'postgres', url: server.directUrl }
}

/** The addresses of the owners of all databases, by name. */
export function adminAddressesOf(config: Config, server: DatabaseServer): Readonly<Record<string, string>> {
  const others = Object.entries(config.databases).map(([name, { adminUrl }]) => [name, adminUrl] as const)
  return { [DEFAULT_DATABASE]: server.adminUrl, ...Object.fromEntries(others) }
}

/** Creates the queue prefix on Redis, so that producers can start before the first worker. */
async function createPrefix(config: Config, server: DatabaseServer, log: Logger): Promise<void> {
  try {
    const queues = await openQueues({
      backend: backendOf(config, server),
      prefix: config.queuePrefix,
      log,
      create: true,
    })
    await queues.close()
  } catch (error) {
    // The migration does not wait for Redis: the first worker creates the prefix, too.
    log.warn({ error }, 'creating the queue prefix failed; the first worker will create it')
  }
}

/**
 * Migrates the tables of the store, in all databases, and those of the queues to this version.
 *
 * @returns the migrations that were applied; those of further databases with their name before them
 */
export async function migrateAll(config: Config, server: DatabaseServer, log: Logger): Promise<string[]> {
  const { applied } = await migrate({ url: server.adminUrl, log })
  for (const [name, { adminUrl }] of Object.entries(config.databases)) {
    const there = await migrate({ url: adminUrl, log })
    applied.push(...there.applied.map((migration) => `${name}: ${migration}`))
  }
  if (config.redisUrl === null) {
    await migrateQueues({ url: server.adminUrl, prefix: config.queuePrefix, grantTo: APP_ROLE })
  } else {
    await createPrefix(config, server, log)
  }
  return applied
}
