import { createPreview, type Preview } from '@heddle/assemble'
import { ConflictError, type PrunedCounts, type StageName } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { assertDiskSpace } from '@heddle/embedded'
import { createClient, DirectAppends, KnownContexts, type SearchReranker } from '@heddle/engine'
import { openQueues, type Queues, type Settled } from '@heddle/queue'
import { type Config, systemClock, untilStopped } from '@heddle/runtime'
import { openStore, type QueryEmbedder } from '@heddle/store'
import { CloseStack } from './close-stack.js'
import { connectionsOf } from './connections.js'
import { backendOf, type DatabaseServer, migrateAll, openServer } from './database-server.js'
import { checkServers } from './health/readiness.js'
import { applicationNameOf, stagesServedElsewhere, threadNameOf } from './presence-in-store.js'
import { openQueryEmbedder } from './query-embedder.js'
import { openSearchReranker } from './search-reranker.js'
import { snapshotsFolderOf } from './snapshots-folder.js'
import { startStages } from './stages.js'
import { type OpenStoreOptions, openMigratedStore, type StoreEngine } from './store-engine.js'
import { startTelemetry, type Telemetry } from './telemetry/telemetry.js'

export interface EngineNeeds {
  /** Stages that the command needs. They run in its process if no other process serves them. */
  readonly stages: readonly StageName[]
  /** `always`: run the stages here even if other processes serve them. Default `unserved`. */
  readonly workers?: 'always' | 'unserved'
  readonly concurrency?: number
  readonly reconcile?: boolean
  /** The command serves other processes: it must own the embedded server, which a short command would stop. Default false. */
  readonly lasting?: boolean
  /** Also migrate an external database; the embedded one always is migrated. Default false. */
  readonly migrate?: boolean
  /** Called after each attempt of a job in this process. */
  readonly onSettled?: (settled: Settled) => void
  /** Called after compactions in this process. */
  readonly onPruned?: ((counts: PrunedCounts) => void) | undefined
  /** False for disposable data, which a power cut may destroy. Default true. */
  readonly durable?: boolean
  /** Run large jobs in threads, so that they do not delay the other requests of a server. Default false. */
  readonly threads?: boolean
  /** Time limit of a call to a model provider, in milliseconds, for a command that cannot wait for the usual minute. */
  readonly summaryCallMsMax?: number
}

/** The opened store, queues and stages of a command. */
export interface Engine extends StoreEngine {
  readonly queues: Queues
  /** The stages that run inside this process. */
  readonly workersHere: readonly StageName[]
  /** Embeds queries with the model of the embed stage. */
  readonly embedder: QueryEmbedder
  /** Null if it is off. */
  readonly reranker: SearchReranker | null
  /** Null if all appends go through the queue. */
  readonly directAppends: DirectAppends | null
  readonly knownContexts: KnownContexts
  /** Exports traces, and the metrics of a process that has some. */
  readonly telemetry: Pick<Telemetry, 'exportMetrics'>
  /** Builds contexts that are not stored. */
  readonly previewer: Preview
  /** Names of the models of these stages; null if no stage here needs one. */
  readonly models: { readonly summarizer: string | null; readonly embedder: string | null }
  /** @throws RetryableError `SERVICE_UNAVAILABLE` with the names of the servers that are down */
  checkReady(): Promise<void>
}

const QUEUES_CLOSE_MS = 6_000
/** For the export of the last spans. */
const TELEMETRY_CLOSE_MS = 6_000

export interface OpenEngineOptions extends OpenStoreOptions {
  readonly needs: EngineNeeds
}

/**
 * Opens the configured server, store and queues, and runs in this process the needed stages that no other process serves. So
 * a command works on a laptop without running services.
 *
 * On a failure everything that was opened is closed.
 */
export async function openEngine({ context, config, log, needs }: OpenEngineOptions): Promise<Engine> {
  const opened = new CloseStack(log)
  try {
    context.signal.throwIfAborted()
    const telemetry = await startTelemetry(config, { env: context.env, log })
    opened.push('telemetry', TELEMETRY_CLOSE_MS, () => telemetry.close())
    const server = await openServer({ config, log, context, durable: needs.durable ?? true })
    opened.push('server', Number.POSITIVE_INFINITY, () => server.stop())
    if (needs.lasting === true && server.kind === 'embedded' && !server.owned) throw folderInUse(config.dataDir)
    // An external database is migrated by its owner's decision only: `heddle migrate` or `heddle up`.
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
      // The connection may still succeed after its waiter has given up.
      connecting.then((late) => late.close({ timeoutMs: QUEUES_CLOSE_MS })).catch(() => undefined)
      throw error
    })
    opened.push('queues', QUEUES_CLOSE_MS, () => queues.close({ timeoutMs: QUEUES_CLOSE_MS }))
    const directAppends = config.queue.directAppends
      ? new DirectAppends({ store, queues, clock: systemClock, log })
      : null
    opened.push('direct appends', QUEUES_CLOSE_MS, async () => await directAppends?.close())
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
      onPruned: needs.onPruned,
      summaryCallMsMax: needs.summaryCallMsMax,
      ...(needs.threads === true && {
        threads: { databaseUrl: server.url, applicationName: threadNameOf(applicationName), place: context },
      }),
    })
    opened.push('workers', Number.POSITIVE_INFINITY, () => stages.stop())

    const { project, settings, settingLayers } = config
    const embedder = openQueryEmbedder({ config, log, env: context.env }, opened)
    const reranker = openSearchReranker({ config, env: context.env }, opened)
    const previewer = createPreview({ store, clock: systemClock, log, settings, embedder })
    const knownContexts = new KnownContexts()
    const client = createClient({
      store,
      queues,
      project,
      settings,
      settingLayers,
      snapshotsFolder: snapshotsFolderOf(config),
      log,
      embedder,
      reranker,
      directAppends,
      knownContexts,
      previewer,
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
      reranker,
      directAppends,
      knownContexts,
      previewer,
      telemetry,
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

function folderInUse(dataDir: string): ConflictError {
  return new ConflictError(`another heddle command is using ${dataDir}`, {
    field: 'data',
    received: dataDir,
    hint: 'Run this again after that command has ended, or choose another folder with --data.',
  })
}

/**
 * All needed stages if at least one of them has no worker in any process, otherwise none. A second worker of a stage is
 * harmless, a missing one is not.
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

/** By its address. A forwarded port is mistaken for a local server, which at worst leads to a second worker. */
function isOnThisMachine(url: string): boolean {
  return ['', 'localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)
}
