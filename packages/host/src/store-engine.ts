import type { Client } from '@heddle/client/interface'
import { projectIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import type { Config, Logger } from '@heddle/runtime'
import { assertMigrated, openStore, type Store } from '@heddle/store'
import { CloseStack } from './close-stack.js'
import { connectionsOf } from './connections.js'
import type { HostContext } from './context.js'
import { type DatabaseServer, migrateAll, openServer } from './database-server.js'
import { applicationNameOf } from './presence-in-store.js'
import { openQueryEmbedder } from './query-embedder.js'
import { openSearchReranker } from './search-reranker.js'
import { snapshotsFolderOf } from './snapshots-folder.js'

/** The opened store of a command that needs no queues. */
export interface StoreEngine {
  readonly config: Config
  readonly log: Logger
  readonly projectId: string
  readonly store: Store
  readonly client: Client
  readonly server: DatabaseServer
  /** Stops and closes everything in reverse order, with time limits; never rejects. */
  close(): Promise<void>
}

const STORE_CLOSE_MS = 6_000

export interface OpenStoreOptions {
  readonly context: HostContext
  readonly config: Config
  readonly log: Logger
}

/**
 * Opens only the server and the store, for commands that only read or change stored data: they work while the queues are
 * down.
 */
export async function openStoreEngine(options: OpenStoreOptions): Promise<StoreEngine> {
  const { context, config, log } = options
  const opened = new CloseStack(log)
  try {
    context.signal.throwIfAborted()
    const server = await openServer({ config, log, context, durable: true })
    opened.push('server', Number.POSITIVE_INFINITY, () => server.stop())
    if (server.kind === 'embedded') await migrateAll(config, server, log)
    context.signal.throwIfAborted()
    const applicationName = applicationNameOf({ queuePrefix: config.queuePrefix, pid: process.pid, stages: [] })
    const { store: connectionsMax } = connectionsOf(config, [])
    const store = await openMigratedStore(server, { applicationName, connectionsMax, config, log, opened })
    const { project, settings, settingLayers } = config
    const embedder = openQueryEmbedder({ config, log, env: context.env }, opened)
    const reranker = openSearchReranker({ config, env: context.env }, opened)
    const client = createClient({
      store,
      queues: null,
      project,
      settings,
      settingLayers,
      snapshotsFolder: snapshotsFolderOf(config),
      log,
      embedder,
      reranker,
    })
    return { config, log, projectId: projectIdOf(project), store, client, server, close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}

const BYTES_PER_MEGABYTE = 1024 * 1024

/** Opens a store that has been migrated. Creates neither tables nor queues: the owner of a database decides when. */
export async function openMigratedStore(
  server: DatabaseServer,
  {
    applicationName,
    connectionsMax,
    config,
    log,
    opened,
  }: { applicationName: string; connectionsMax: number; config: Config; log: Logger; opened: CloseStack },
): Promise<Store> {
  const store = openStore({
    url: server.url,
    databases: config.databases,
    applicationName,
    connectionsMax,
    vectorCacheBytesMax: config.vectorCacheMegabytes * BYTES_PER_MEGABYTE,
    log,
  })
  opened.push('store', STORE_CLOSE_MS, () => store.close())
  await store.ping()
  await assertMigrated(store)
  return store
}
