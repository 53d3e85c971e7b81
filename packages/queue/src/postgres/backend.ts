import type { Clock } from '@heddle/runtime'
import type { BackendFactory, PostgresConnection, PostgresConnectionOptions, QueueBaseOptions } from 'bullmq'
import type { Backend, BullSetup, QueueFacts } from '../base/backend.js'
import { bounds } from '../base/bounds.js'
import { LISTENING_CONNECTIONS, type QueueConnections } from '../base/connections.js'
import { namedError, unavailable } from '../base/errors.js'
import { inTime } from '../base/waiting.js'
import { TextQueue } from '../send/text-queue.js'
import { addCauses } from './add-causes.js'
import { readBacklogs } from './backlog.js'
import { PostgresWorkerBackend, SharedPostgresBackend, type WorkerBackendOptions } from './bull-backend.js'
import { createPostgresChannels } from './channels.js'
import { readDepth } from './depth.js'
import { shrinkFunction } from './functions.js'
import { readHolders } from './holders.js'
import { WORKER_LISTENERS_MAX } from './listen-client.js'
import { PostgresListener } from './listener.js'
import { assertServed, dropSchema, migrateQueues, schemaOf } from './schema.js'
import { SharedPostgresConnection } from './shared-connection.js'

export interface PostgresBackendOptions {
  url: string
  prefix: string
  clock: Clock
  create: boolean
  connections: QueueConnections
  onError(error: unknown): void
}

/**
 * Postgres: BullMQ's tables in a schema of their own.
 *
 * The pools commit asynchronously, so that no commit waits for the disk. A crash of the server can lose the last half second
 * of the queue, as with Redis's default; messages that were acknowledged as stored are not affected, since jobs only wake
 * the stages.
 */
export async function openPostgresBackend(options: PostgresBackendOptions): Promise<Backend> {
  const { url, prefix, create, clock, connections, onError } = options
  if (create) await migrateQueues({ url, prefix })
  else await assertServed({ url, prefix })
  const opened: PostgresConnection[] = []
  const listener = new PostgresListener({ url, clock, onError })
  let workerConnection: Promise<PostgresConnection> | undefined

  const connect = async (connectionsMax: number, waitMs: number): Promise<PostgresConnection> => {
    const connection = new SharedPostgresConnection(
      {
        connectionString: url,
        schema: schemaOf(prefix),
        max: connectionsMax,
        connectionTimeoutMillis: waitMs,
        query_timeout: 30_000,
        // Unused connections stay open: opening one takes longer than all statements of a turn.
        idleTimeoutMillis: 0,
        keepAlive: true,
        keepAliveInitialDelayMillis: 10_000,
        application_name: 'heddle-queue',
        options: '-c synchronous_commit=off',
      },
      listener,
    )
    // Every queue and worker adds its listeners.
    connection.setMaxListeners(WORKER_LISTENERS_MAX)
    connection.on('error', onError)
    opened.push(connection)
    try {
      await inTime(connection.waitUntilReady(), waitMs, () => unavailable('Postgres'))
    } catch (error) {
      void connection.close().catch(onError)
      throw namedError(error, 'Postgres')
    }
    return connection
  }

  const producerConnection = await connect(connections.producersMax, bounds.connectMs)
  try {
    await listener.open()
  } catch (error) {
    void producerConnection.close().catch(onError)
    throw namedError(error, 'Postgres')
  }
  const channels = createPostgresChannels(producerConnection.pool, listener)

  return {
    server: 'Postgres',
    channels,
    // Checked before it was opened.
    isKnown: async () => true,
    otherPrefixes: async () => [],
    producers: () => setup(producerConnection),
    async workers() {
      // A worker whose event loop was blocked for seconds must not conclude that the server is down.
      workerConnection ??= connect(connections.workersMax, bounds.workersReadyMs).catch((error: unknown) => {
        workerConnection = undefined
        throw error
      })
      return setup(await workerConnection)
    },
    probe: () => probe(producerConnection),
    facts: () =>
      readFacts(
        producerConnection,
        connections.producersMax +
          LISTENING_CONNECTIONS +
          (workerConnection === undefined ? 0 : connections.workersMax),
      ),
    backlogs: (queues) => readBacklogs(producerConnection.pool, queues),
    keyHolders: ({ name }, keys) => readHolders(producerConnection.pool, name, keys),
    addCauses: (queue, merged) => addCauses(producerConnection.pool, queue, merged),
    depth: (queue, jobsMax) => readDepth(producerConnection.pool, queue, jobsMax),
    async releaseSpace() {
      const { shrinkBytesMin, shrinkRowsMax } = bounds
      const { rows } = await producerConnection.pool.query<{ tables: number }>(
        `SELECT ${shrinkFunction}($1, $2) AS tables`,
        [shrinkBytesMin, shrinkRowsMax],
      )
      return rows[0]?.tables ?? 0
    },
    async close() {
      await channels.close()
      await Promise.all(opened.map((connection) => connection.close()))
    },
    destroy: () => dropSchema(url, prefix),
  }
}

function setup(connection: PostgresConnection): BullSetup {
  const factory: BackendFactory = (name, options, { withBlockingConnection = false } = {}) =>
    withBlockingConnection
      ? new PostgresWorkerBackend(connection, name, options as WorkerBackendOptions)
      : new SharedPostgresBackend(
          connection,
          name,
          options as unknown as QueueBaseOptions<PostgresConnectionOptions>,
          false,
        )
  // BullMQ requires connection options, but only the factory uses them.
  return { Queue: TextQueue, factory, connection: {} }
}

/** The smallest write. If it fails, the pool drops the session, whose settings may be outdated. */
async function probe({ pool }: PostgresConnection): Promise<void> {
  await pool.query(`SELECT nextval('job_seq')`)
}

async function readFacts(connection: PostgresConnection, connectionsPerProcess: number): Promise<QueueFacts> {
  const { pool } = connection
  const startedMs = performance.now()
  await probe(connection)
  const { rows } = await pool.query<{ version: string; connectionsMax: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('max_connections') AS "connectionsMax"`,
  )
  const latencyMs = performance.now() - startedMs
  const row = rows[0]
  return {
    server: 'Postgres',
    version: row?.version ?? 'unknown',
    latencyMs,
    connectionsPerProcess,
    connectionsMax: row === undefined ? null : Number(row.connectionsMax),
    warnings: [],
  }
}
