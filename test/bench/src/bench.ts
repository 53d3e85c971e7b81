import { randomBytes } from 'node:crypto'
import type { Client } from '@heddle/client/interface'
import type { StageName } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { createClient, DirectAppends } from '@heddle/engine'
import { openQueues, type Queues } from '@heddle/queue'
import { createLogger, systemClock } from '@heddle/runtime'
import { openStore, type Store } from '@heddle/store'
import { closeAll, closeLater } from '@heddle/test-support/closing'
import type { QueuePlace } from '@heddle/test-support/servers/queue-server'
import postgres from 'postgres'
import { openPlainQueue, type PlainQueue } from './ingest/plain-bullmq.js'
import { type BackendName, openServers, type Servers } from './servers.js'
import type { WorkerOrder } from './worker-process.js'
import { startWorkers, type Workers } from './workers.js'

const PROJECT = 'bench'
/** A stopped run has running statements that it does not wait for. */
const SQL_END_SECONDS = 1

/** A store and queues of one backend, with a client in this process and workers in others. */
export interface Bench {
  readonly servers: Servers
  readonly client: Client
  readonly store: Store
  readonly projectId: string
  /** Directly on the database, as a user that no policy binds. */
  readonly sql: postgres.Sql
  /** The queues of the stages. */
  readonly queues: Queues
  /** Their location on their server. */
  readonly place: QueuePlace
  /** Queues whose workers do nothing. */
  readonly noOp: Queues
  startStages(...stages: StageName[]): Promise<Workers>
  /** With additional environment variables, such as the key of a provider. */
  startStagesWith(env: Readonly<Record<string, string>>, ...stages: StageName[]): Promise<Workers>
  /** In the background, as `heddle worker` runs them beside other processes. */
  startStagesBehind(niceness: number, ...stages: StageName[]): Promise<Workers>
  /** With the reconciler and housekeeping, as in a deployment. */
  startUpkeptStages(...stages: StageName[]): Promise<Workers>
  startNoOp(...stages: StageName[]): Promise<Workers>
  /** BullMQ by itself: its queue, and its worker, whose jobs do nothing. */
  startBullMq(): Promise<{ queue: PlainQueue; workers: Workers }>
  /** A name that is unique in this run. */
  fresh(name: string): string
  close(): Promise<void>
}

export async function openBench(servers: Servers): Promise<Bench> {
  const log = createLogger({ level: 'error', name: 'bench' })
  const run = randomBytes(4).toString('hex')
  const prefixes = { stages: `bench-${run}`, 'no-op': `bench-noop-${run}`, bullmq: `bench-bullmq-${run}` }
  const { databases } = servers
  const store = openStore({ url: servers.databaseUrl, ...(databases && { databases }) })
  const queues = await openQueues({ backend: servers.queue, prefix: prefixes.stages, log, create: true })
  const noOp = await openQueues({ backend: servers.queue, prefix: prefixes['no-op'], log, create: true })
  const sql = postgres(servers.databaseUrl, { max: 4, onnotice: () => {} })
  const directAppends = new DirectAppends({ store, queues, clock: systemClock, log })
  const workers: Workers[] = []
  const plainQueues: PlainQueue[] = []
  let names = 0

  async function start(
    kind: WorkerOrder['kind'],
    stages: readonly StageName[],
    {
      env = {},
      niceness,
      reconcile = false,
    }: { env?: Readonly<Record<string, string>>; niceness?: number; reconcile?: boolean } = {},
  ): Promise<Workers> {
    const prefix = prefixes[kind]
    const { databaseUrl, queue } = servers
    const order = { kind, stages, databaseUrl, databases, queue, prefix, project: PROJECT, env, reconcile }
    const started = await startWorkers({ ...order, ...(niceness !== undefined && { niceness }) })
    workers.push(started)
    return started
  }

  return {
    servers,
    client: createClient({ store, queues, project: PROJECT, log, directAppends }),
    store,
    projectId: projectIdOf(PROJECT),
    sql,
    queues,
    place: { backend: servers.queue, prefix: prefixes.stages },
    noOp,
    startStages: (...stages) => start('stages', stages),
    startStagesWith: (env, ...stages) => start('stages', stages, { env }),
    startStagesBehind: (niceness, ...stages) => start('stages', stages, { niceness }),
    startUpkeptStages: (...stages) => start('stages', stages, { reconcile: true }),
    startNoOp: (...stages) => start('no-op', stages),
    async startBullMq() {
      const queue = await openPlainQueue({ backend: servers.queue, prefix: prefixes.bullmq })
      plainQueues.push(queue)
      return { queue, workers: await start('bullmq', []) }
    },
    fresh: (name) => `${name}-${names++}`,
    async close() {
      await Promise.all(workers.map((each) => each.stop()))
      for (const queue of plainQueues) await queue.close()
      await directAppends.close()
      await queues.destroy()
      await noOp.destroy()
      await store.close()
      await sql.end({ timeout: SQL_END_SECONDS })
    },
  }
}

/** @throws MissingServer where this machine has no server of the backend */
export async function withBench<Result>(
  backend: BackendName,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  try {
    const servers = await openServers(backend)
    closeLater(() => servers.close())
    const bench = await openBench(servers)
    closeLater(() => bench.close())
    return await work(bench)
  } finally {
    await closeAll()
  }
}
