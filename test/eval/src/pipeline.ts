import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PlannedThread } from '@heddle/cli'
import type { Client } from '@heddle/client/interface'
import { type MessageInput, type PartialSettings, stageNames } from '@heddle/contracts'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createClient } from '@heddle/engine'
import { startStages } from '@heddle/host'
import { createHashingEmbedder, type Embedder } from '@heddle/models'
import { openQueues } from '@heddle/queue'
import { createLogger, loadConfig, systemClock } from '@heddle/runtime'
import { migrate, openStore, type Store } from '@heddle/store'
import { closeLater } from '@heddle/test-support/closing'
import postgres from 'postgres'
import { PROJECT } from './sessions.js'
import { databaseBytes } from './storage.js'

const SETTLE_MS_MAX = 120_000

/** Sessions after the whole pipeline has processed them, on a separate server. */
export interface Settled {
  readonly client: Client
  /** Directly on the database, as a user that no policy binds. */
  readonly sql: postgres.Sql
  /** The size of the empty store on disk. */
  readonly emptyBytes: number
  readonly threads: readonly PlannedThread[]
}

/** All stages, running on a separate server. */
interface Pipeline {
  /** A client that adds settings to those of the pipeline. */
  clientWith(settings: PartialSettings): Client
  readonly store: Store
  readonly sql: postgres.Sql
  readonly emptyBytes: number
}

/**
 * `closeAll` removes all that is started.
 *
 * @param embedder of messages and of queries: only vectors of one model are compared; default: the hashing embedder
 */
export async function openPipeline(
  settings: PartialSettings,
  embedder: Embedder = createHashingEmbedder(),
): Promise<Pipeline> {
  const log = createLogger({ level: 'error', name: 'eval' })
  const dataDir = await mkdtemp(join(tmpdir(), 'heddle-eval-'))
  closeLater(() => rm(dataDir, { recursive: true, force: true }))
  const server = await startEmbeddedPostgres({ dataDir, log, durable: false })
  closeLater(() => server.stop())
  await migrate({ url: server.adminUrl })
  const store = openStore({ url: server.url })
  closeLater(() => store.close())
  const sql = postgres(server.adminUrl, { max: 2, onnotice: () => {} })
  closeLater(() => sql.end({ timeout: 1 }))
  const emptyBytes = await databaseBytes(sql)
  const queues = await openQueues({
    backend: { kind: 'postgres', url: server.adminUrl },
    prefix: 'eval',
    log,
    create: true,
  })
  closeLater(() => queues.close({ timeoutMs: 6_000 }))
  const config = { ...loadConfig({ env: { HEDDLE_EMBEDDER: 'hashing' }, cwd: dataDir }), settings, project: PROJECT }
  const stages = { store, queues, config, log, clock: systemClock, stages: stageNames, reconcile: false, embedder }
  const running = await startStages(stages)
  closeLater(() => running.stop())

  const clientWith = (added: PartialSettings) =>
    createClient({
      store,
      queues,
      project: PROJECT,
      settings: { ...settings, ...added },
      embedder: async () => embedder,
      log,
    })
  return { clientWith, store, sql, emptyBytes }
}

/** A thread to send, with its agent. */
export interface GivenThread {
  readonly agent: string
  readonly thread: string
  readonly messages: readonly MessageInput[]
}

/** Sends threads and waits until all stages have processed each. */
export async function settleThreads(client: Client, threads: readonly GivenThread[]): Promise<void> {
  for (const { agent, thread, messages } of threads) {
    await client.messages.append({ agent, thread, messages, newAgentRollingWindow: null, deadlineMs: SETTLE_MS_MAX })
  }
  for (const { thread } of threads) await client.threads.waitUntilSettled(thread, { deadlineMs: SETTLE_MS_MAX })
}

/** Sends sessions through all stages and waits until each has settled. `closeAll` removes what was started. */
export async function settleSessions(threads: readonly PlannedThread[], settings: PartialSettings): Promise<Settled> {
  const { clientWith, sql, emptyBytes } = await openPipeline(settings)
  const client = clientWith({})
  await settleThreads(
    client,
    threads.map(({ thread, messages }) => ({ agent: 'coder', thread, messages })),
  )
  return { client, sql, emptyBytes, threads }
}
