import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@heddle/client/interface'
import type { PartialSettings, StageName } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createClient, DirectAppends } from '@heddle/engine'
import { type RunningStages, type StagesOptions, startStages } from '@heddle/host'
import { createHashingEmbedder } from '@heddle/models'
import { openQueues, type Queues } from '@heddle/queue'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { migrate, openStore, type Store, type StoreOptions } from '@heddle/store'
import { freshPrefix, migratedDatabase, QUEUE_PREFIX, redisUrl } from '@heddle/test-support'
import { afterAll, afterEach, beforeAll, inject } from 'vitest'

export type Mode = 'embedded' | 'postgres' | 'redis'

/**
 * The ways to run Heddle of the Vitest project, for `describe.each`: Postgres in `npm test`, Redis and the embedded server in the
 * project `redis`, which runs the same files again, all three in the others. The server of `npm test` is an embedded one, too,
 * without its flushes to the disk. Redis is left out if it is not installed.
 */
export function modes(): { mode: Mode; title: string; skip: boolean }[] {
  const away = redisUrl() === null
  const all = [
    { queues: 'redis', mode: 'embedded', title: 'embedded', skip: false },
    { queues: 'postgres', mode: 'postgres', title: 'postgres', skip: false },
    { queues: 'redis', mode: 'redis', title: away ? 'redis (left out: no redis-server)' : 'redis', skip: away },
  ] as const
  const wanted = inject('queueBackends')
  return all.filter(({ queues }) => wanted.includes(queues))
}

/** The same for suites in which the embedded Postgres would repeat the other one. */
export function queueBackends(): ReturnType<typeof modes> {
  return modes().filter(({ mode }) => mode !== 'embedded')
}

/** The server of queues for suites that run on one at a time: the first one of the Vitest project. */
export function queueOfProject(): Mode {
  return redisUrl() === null ? 'postgres' : (inject('queueBackends')[0] ?? 'postgres')
}

export interface Pipeline {
  readonly client: Client
  readonly store: Store
  readonly queues: Queues
  readonly projectId: string
  readonly databaseUrl: string
  readonly queueBackend: { kind: 'postgres' | 'redis'; url: string }
  readonly prefix: string
  /** Variables with which a command works on this store and these queues. */
  readonly environment: Readonly<Record<string, string>>
  /** The folder in which its workers write snapshot files; it is removed with the pipeline. */
  readonly snapshotsFolder: string
  /** Starts workers of some stages, as in one process. */
  start(stages?: readonly StageName[], options?: StartOptions): Promise<RunningStages>
  /** A client of another project on the same store and queues. */
  clientOf(project: string): Client
  /** A client that commits its appends itself. The pipeline's own client sends them through the queue. */
  readonly directClient: Client
  close(): Promise<void>
}

export type StartOptions = Partial<
  Pick<
    StagesOptions,
    'concurrency' | 'reconcile' | 'summarizer' | 'summarizers' | 'clock' | 'embedder' | 'store' | 'log' | 'onPruned'
  >
>

export const allStages: readonly StageName[] = ['ingest', 'prune', 'summarize', 'embed', 'remember', 'assemble']

export interface PipelineOfTests {
  readonly pipeline: Pipeline
  /** Starts workers that stop at the end of the test. */
  readonly start: Pipeline['start']
}

/** One pipeline for the tests of a `describe`, each of which starts its own workers. */
export function pipelineOfTests(mode: Mode = queueOfProject()): PipelineOfTests {
  let pipeline: Pipeline
  let started: RunningStages[] = []
  beforeAll(async () => {
    pipeline = await openPipeline(mode)
  })
  afterEach(async () => {
    await Promise.all(started.map((stages) => stages.stop()))
    started = []
  })
  afterAll(() => pipeline?.close())
  return {
    get pipeline() {
      return pipeline
    },
    async start(...parameters) {
      const stages = await pipeline.start(...parameters)
      started.push(stages)
      return stages
    },
  }
}

/** A separate store and queues, without workers. */
export async function openPipeline(
  mode: Mode = queueOfProject(),
  settings: PartialSettings = {},
  databases: NonNullable<StoreOptions['databases']> = {},
): Promise<Pipeline> {
  const database = mode === 'embedded' ? await embeddedDatabase() : await migratedDatabase()
  const log = createLogger({ level: 'fatal', name: 'test' })
  const prefix = mode === 'redis' ? freshPrefix() : QUEUE_PREFIX
  const store = openStore({ url: database.url, databases })
  const redis = redisUrl()
  const queueBackend =
    mode === 'redis' && redis !== null
      ? { kind: 'redis' as const, url: redis }
      : { kind: 'postgres' as const, url: database.url }
  const queues = await openQueues({ backend: queueBackend, prefix, log, create: true })
  const project = 'tests'
  const dataDir = await mkdtemp(join(tmpdir(), 'heddle-test-data-'))
  const snapshotsFolder = join(dataDir, 'sessions')
  const running: RunningStages[] = []
  const config = {
    ...loadConfig({ env: { HEDDLE_EMBEDDER: 'hashing' }, cwd: tmpdir() }),
    settings,
    project,
    dataDir,
  }
  // The same one as the workers of this configuration.
  const embedder = createHashingEmbedder()
  const common = { store, queues, settings, snapshotsFolder, log, embedder: async () => embedder }
  const clientOf = (name: string) => createClient({ ...common, project: name })
  const directAppends = new DirectAppends({ store, queues, clock: systemClock, log })
  return {
    client: clientOf(project),
    clientOf,
    directClient: createClient({ ...common, project, directAppends }),
    store,
    queues,
    projectId: projectIdOf(project),
    databaseUrl: database.url,
    queueBackend,
    prefix,
    environment: {
      DATABASE_URL: database.url,
      HEDDLE_QUEUE_PREFIX: prefix,
      ...(queueBackend.kind === 'redis' && { REDIS_URL: queueBackend.url }),
    },
    snapshotsFolder,
    async start(stages = allStages, options = {}) {
      const started = await startStages({
        store,
        queues,
        config,
        log,
        clock: systemClock,
        stages,
        reconcile: false,
        ...options,
      })
      running.push(started)
      return started
    },
    async close() {
      await Promise.all(running.map((stages) => stages.stop()))
      await directAppends.close()
      await queues.destroy()
      await store.close()
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function embeddedDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'heddle-test-pipeline-'))
  const server = await startEmbeddedPostgres({ dataDir, log: createLogger({ level: 'fatal', name: 'test' }) })
  await migrate({ url: server.adminUrl })
  return {
    url: server.adminUrl,
    async drop() {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
