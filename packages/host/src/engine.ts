import { ConflictError, type StageName } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { assertDiskSpace } from '@heddle/embedded'
import { createClient } from '@heddle/engine'
import { openQueues, type Queues, type Settled } from '@heddle/queue'
import { type Config, systemClock, untilStopped } from '@heddle/runtime'
import { openStore, type QueryEmbedder } from '@heddle/store'
import { CloseStack } from './close-stack.js'
import { connectionsOf } from './connections.js'
import { backendOf, type DatabaseServer, migrateAll, openServer } from './database-server.js'
import { checkServers } from './health/readiness.js'
import { applicationNameOf, stagesServedElsewhere, threadNameOf } from './presence-in-store.js'
import { openQueryEmbedder } from './query-embedder.js'
import { snapshotsFolderOf } from './snapshots-folder.js'
import { startStages } from './stages.js'
import { type OpenStoreOptions, openMigratedStore, type StoreEngine } from './store-engine.js'

export interface EngineNeeds {
  /** Stages without which the command would wait for ever. They run inside it where no other process serves them. */
  readonly stages: readonly StageName[]
  /** `always`: run the stages here, whoever else serves them. Default `unserved`. */
  readonly workers?: 'always' | 'unserved'
  readonly concurrency?: number
  readonly reconcile?: boolean
  /** The command serves others: it must own the embedded server, so that no short command takes it away. Default false. */
  readonly lasting?: boolean
  /** Migrate a database of one's own too; the embedded one always is. Default false. */
  readonly migrate?: boolean
  /** Told of each try of a job that a worker here has ended. */
  readonly onSettled?: (settled: Settled) => void
  /** False for data that nobody misses after a power cut. Default true. */
  readonly durable?: boolean
  /** Carry out large jobs in threads: the command serves others, who must not wait for them. Default false. */
  readonly threads?: boolean
  /** How long one call of a provider may take, in milliseconds, where nobody waits for the usual minute. */
  readonly summaryCallMsMax?: number
}

/** Everything that a command works with, opened from the configuration. */
export interface Engine extends StoreEngine {
  readonly queues: Queues
  /** The stages that run inside this process. */
  readonly workersHere: readonly StageName[]
  /** Embeds what is asked for, with the model that the embed stage uses. */
  readonly embedder: QueryEmbedder
  /** What those stages work with, by name; null where no stage here needs one. */
  readonly models: { readonly summarizer: string | null; readonly embedder: string | null }
  /** @throws RetryableError `SERVICE_UNAVAILABLE` that names the servers that are away */
  checkReady(): Promise<void>
}

const QUEUES_CLOSE_MS = 6_000

export interface OpenEngineOptions extends OpenStoreOptions {
  readonly needs: EngineNeeds
}

/**
 * Opens the server, the store and the queues that the configuration names, and runs inside this process what no other
 * process serves: so a command works on a laptop on which nothing runs.
 *
 * What was opened before something failed is closed again.
 */
export async function openEngine({ context, config, log, needs }: OpenEngineOptions): Promise<Engine> {
  const opened = new CloseStack(log)
  try {
    context.signal.throwIfAborted()
    const server = await openServer({ config, log, context, durable: needs.durable ?? true })
    opened.push('server', Number.POSITIVE_INFINITY, () => server.stop())
    if (needs.lasting === true && server.kind === 'embedded' && !server.owned) throw takenFolder(config.dataDir)
    // Somebody else's database is migrated when its owner says so: `heddle migrate`, or `heddle up`.
    if (server.kind === 'embedded' || needs.migrate === true) await migrateAll(config, server, log)
    context.signal.throwIfAborted()

    const workersHere =
      needs.workers === 'always'
        ? needs.stages
        : await untilStopped(context.signal, unserved(server, config, needs.stages))
    const applicationName = applicationNameOf({
      queuePrefix: config.queuePrefix,
      pid: process.pid,
      stages: workersHere,
    })
    const connections = connectionsOf(config, workersHere)
    const opening = openMigratedStore(server, {
      applicationName,
      connectionsMax: connections.store,
      config,
      log,
      opened,
    })
    const store = await untilStopped(context.signal, opening)
    const connecting = openQueues({
      backend: backendOf(config, server),
      prefix: config.queuePrefix,
      log,
      connections: connections.queues,
      create: workersHere.length > 0,
      ingestLimits: { jobsMax: config.queue.ingestJobsMax, bytesMax: config.queue.ingestBytesMax },
    })
    const queues = await untilStopped(context.signal, connecting).catch((error: unknown) => {
      // Connected after all, when nobody waits any more.
      connecting.then((late) => late.close({ timeoutMs: QUEUES_CLOSE_MS })).catch(() => undefined)
      throw error
    })
    opened.push('queues', QUEUES_CLOSE_MS, () => queues.close({ timeoutMs: QUEUES_CLOSE_MS }))
    context.signal.throwIfAborted()

    const stages = await startStages({
      store,
      queues,
      config,
      log,
      clock: systemClock,
      stages: workersHere,
      env: context.env,
      reconcile: needs.reconcile ?? false,
      concurrency: needs.concurrency,
      onSettled: needs.onSettled,
      summaryCallMsMax: needs.summaryCallMsMax,
      ...(needs.threads === true && {
        threads: { databaseUrl: server.url, applicationName: threadNameOf(applicationName), place: context },
      }),
    })
    opened.push('workers', Number.POSITIVE_INFINITY, () => stages.stop())

    const { project, settings } = config
    const embedder = openQueryEmbedder({ config, log, env: context.env }, opened)
    const client = createClient({
      store,
      queues,
      project,
      settings,
      snapshotsFolder: snapshotsFolderOf(config),
      log,
      embedder,
    })
    return {
      config,
      log,
      projectId: projectIdOf(config.project),
      store,
      queues,
      client,
      server,
      workersHere,
      embedder,
      models: stages.models,
      checkReady: () =>
        checkServers(
          [
            ...(server.kind === 'embedded' ? [{ name: 'the disk', ping: () => assertDiskSpace(config.dataDir) }] : []),
            { name: 'Postgres (store)', ping: () => store.ping() },
            { name: `${config.redisUrl === null ? 'Postgres' : 'Redis'} (queues)`, ping: () => queues.ping() },
          ],
          systemClock,
        ),
      close: () => opened.close(),
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

function takenFolder(dataDir: string): ConflictError {
  return new ConflictError(`another heddle command is using ${dataDir} right now`, {
    field: 'data',
    received: dataDir,
    hint: 'Run this again when that command has ended, or choose another folder with --data.',
  })
}

/**
 * The wanted stages, where at least one of them has no worker anywhere. All of them are run then: a second worker of a
 * stage does no harm, a missing one would.
 */
async function unserved(
  server: DatabaseServer,
  config: Config,
  stages: readonly StageName[],
): Promise<readonly StageName[]> {
  if (stages.length === 0) return []
  const store = openStore({ url: server.url, connectionsMax: 1, applicationName: 'heddle look' })
  try {
    const served = await stagesServedElsewhere(store, config.queuePrefix, { isLocal: isOnThisMachine(server.url) })
    return stages.every((stage) => served.has(stage)) ? [] : stages
  } finally {
    await store.close()
  }
}

/** By its address: a forwarded port, behind which others are, leads to a second worker at worst. */
function isOnThisMachine(url: string): boolean {
  return ['', 'localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)
}
