import { validationError } from '@heddle/contracts'
import { hasRemadeVectors } from '@heddle/core'
import { DEFAULT_DATABASE, Limiter } from '@heddle/runtime'
import { AccessLog } from './archive/access-log.js'
import { recordAccesses } from './archive/archive.js'
import type { Tx } from './connection/connection.js'
import { openPool, type Pool } from './connection/pool.js'
import { readOnly } from './connection/postgres-errors.js'
import { onConnection, type TransactionOptions, transact } from './connection/transaction.js'
import type { Database } from './placement/databases.js'
import { ProjectsInDatabases } from './placement/projects-in-databases.js'
import { createExactVectors } from './vectors/exact-vectors.js'
import { nearestByIndex } from './vectors/pgvector-vectors.js'
import { VECTOR_CACHE_BYTES_MAX, type VectorSearch } from './vectors/vector-search.js'

export interface StoreOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Further databases, in which projects may be: their addresses by name. Default: none, and projects are not looked for. */
  readonly databases?: Readonly<Record<string, { readonly url: string }>>
  /** The most connections that this process opens to each database. Default 5. */
  readonly connectionsMax?: number
  /** The name under which the server lists the connections. Default `heddle`. */
  readonly applicationName?: string
  readonly log?: { debug(fields: object, message: string): void }
  /** The most bytes of vectors that this process keeps in memory. Default 100 MiB. */
  readonly vectorCacheBytesMax?: number
}

export interface Store extends Omit<Database, 'name'> {
  /** All databases of this store, the default one first. */
  readonly databases: readonly Database[]
  /**
   * Runs `work` in one transaction that can only read and write the rows of one project.
   *
   * Invariant: the transaction runs as `heddle_app`, which is subject to row-level security, whatever the login role is. Role
   * and project are set for the transaction alone, so that a connection may be shared through a pooler.
   *
   * @throws RetryableError `SERVICE_UNAVAILABLE` while the server is down or the database is not migrated
   * @throws PermanentError `UNAUTHORIZED` if the login is refused
   */
  inProject<T>(projectId: string, work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Counts a read of an archive entry. Counts are written once a second, and when the store closes: a kill loses a second. */
  noteAccess(projectId: string, entryId: string): void
  readonly vectors: VectorSearch
  /**
   * Limits the erasures that run in this process, because each occupies a connection most of the time. Those of one target
   * run in sequence: they would only wait for each other's lock.
   */
  readonly erasures: Limiter
  /** Waits up to 5 s for running transactions, then closes all connections. */
  close(): Promise<void>
}

const CONNECTIONS_MAX_DEFAULT = 5
const CLOSE_TIMEOUT_MS = 5_000
/** Counts of reads that cannot be written within this time are discarded. */
const ACCESSES_CLOSE_MS = 1_000
/** Leaves connections of the pool for requests. */
const ERASURES_AT_ONCE_MAX = 3
const PROJECT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Opens a store, which connects on its first use. */
export function openStore({
  url,
  databases: others = {},
  connectionsMax = CONNECTIONS_MAX_DEFAULT,
  applicationName = 'heddle',
  vectorCacheBytesMax = VECTOR_CACHE_BYTES_MAX,
  log,
}: StoreOptions): Store {
  const open = (address: string) => openPool({ url: address, connectionsMax, applicationName })
  const pool = open(url)
  const pools = new Map([[DEFAULT_DATABASE, pool]])
  for (const [name, { url: address }] of Object.entries(others)) pools.set(name, open(address))
  log?.debug({ connectionsMax, databases: pools.size }, 'store opened')
  const placed = pools.size > 1 ? new ProjectsInDatabases(pools) : null
  const inProject: Store['inProject'] = (projectId, work, options) =>
    placed === null ? transact(pool, projectId, work, options) : placed.inProject(projectId, work, options)
  const accesses = new AccessLog({
    write: (projectId, batch) => inProject(projectId, (tx) => recordAccesses(tx, batch)),
    ...(log && { log }),
  })
  const exact = createExactVectors({
    inSnapshot: (projectId, work) => inProject(projectId, work, { snapshot: true }),
    bytesMax: vectorCacheBytesMax,
  })
  const vectors: VectorSearch = {
    get cachedBytes() {
      return exact.cachedBytes
    },
    // Checked each time: `heddle migrate` may create the index while this process runs.
    nearest: async (request) => {
      // Vectors that are not stored are in no index.
      const indexed = hasRemadeVectors(request.model)
        ? null
        : await nearestByIndex((projectId, work) => inProject(projectId, work), request)
      return indexed ?? (await exact.nearest(request))
    },
  }
  const databases = [...pools].map(([name, each]) => databaseOf(name, each))
  return {
    async inProject(projectId, work, options) {
      if (!PROJECT_ID.test(projectId)) throw validationError('projectId', 'must be a UUID', projectId)
      return await inProject(projectId, work, options)
    },
    databases,
    vectors,
    erasures: new Limiter({ atOnce: ERASURES_AT_ONCE_MAX, atOnceOf: () => 1 }),
    noteAccess: (projectId, entryId) => accesses.note(projectId, entryId),
    ...databaseOf(DEFAULT_DATABASE, pool),
    async close() {
      await accesses.close(ACCESSES_CLOSE_MS)
      await Promise.all([...pools.values()].map((each) => each.close(CLOSE_TIMEOUT_MS)))
    },
  }
}

function databaseOf(name: string, pool: Pool): Database {
  return {
    name,
    asReconciler: (work) => transact(pool, '', work),
    async ping() {
      await onConnection(pool, async (sql, connection) => {
        const [row] = await sql<{ isReadOnly: boolean; isReplica: boolean }[]>`
          select current_setting('transaction_read_only')::boolean as "isReadOnly", pg_is_in_recovery() as "isReplica"`
        if (row?.isReadOnly !== true) return
        // A session keeps the setting with which it started.
        connection.lost = true
        throw readOnly(undefined, row.isReplica)
      })
    },
  }
}
