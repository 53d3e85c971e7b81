import { RetryableError, validationError } from '@heddle/contracts'
import { AccessLog } from './access-log.js'
import { recordAccesses } from './archive.js'
import type { Tx } from './connection.js'
import { createExactVectors } from './exact-vectors.js'
import { nearestByIndex } from './pgvector-vectors.js'
import { type Connection, openPool, type Pool } from './pool.js'
import { connectionLost, endsConnection, fromPostgres } from './postgres-errors.js'
import { VECTOR_CACHE_BYTES_MAX, type VectorSearch } from './vector-search.js'

export interface StoreOptions {
  /** Where the database is: `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Connections that this process opens at most. Default 10. */
  readonly connectionsMax?: number
  /** The name under which the server lists the connections. Default `heddle`. */
  readonly applicationName?: string
  readonly log?: { debug(fields: object, message: string): void }
  /** Bytes of vectors that this process keeps in memory at most. Default 256 MiB. */
  readonly vectorCacheBytesMax?: number
}

export interface TransactionOptions {
  /**
   * All statements see the database as it was at the first of them, for work that only reads and adds up what it read.
   * Default false: each statement sees what was committed before it began.
   */
  readonly snapshot?: boolean
}

export interface Store {
  /**
   * Runs `work` in one transaction in which only the rows of one project are there, for reading and for writing.
   *
   * Invariant: the transaction works as `heddle_app`, which row-level security binds, whoever logged in. Role and project
   * hold for the transaction alone, so that a connection may be shared through a pooler.
   *
   * @throws RetryableError `SERVICE_UNAVAILABLE` while the server is away or the database is not migrated
   * @throws PermanentError `UNAUTHORIZED` where the login is refused
   */
  inProject<T>(projectId: string, work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Notes that an archive entry was read. It is counted soon, together with others, and at the latest when the store closes. */
  noteAccess(projectId: string, entryId: string): void
  /** Finds messages by their vectors. */
  readonly vectors: VectorSearch
  /** Runs `work` in a transaction without a project: no table shows a row, only the reconciler's functions answer. */
  asReconciler<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Resolves once the server has answered. */
  ping(): Promise<void>
  /** Waits up to 5 s for work under way, then closes all connections. */
  close(): Promise<void>
}

const CONNECTIONS_MAX_DEFAULT = 10
const CLOSE_TIMEOUT_MS = 5_000
/** Counts of recalls that cannot be written by then are given up. */
const ACCESSES_CLOSE_MS = 1_000
const STATEMENT_TIMEOUT_MS = 60_000
/** A worker that is frozen in the middle of a transaction must not hold its threads for longer. */
const IDLE_TIMEOUT_MS = 60_000
/** For a server that vanished without a word: no statement ends on its own then. Longer than any that a live one answers. */
const TRANSACTION_TIMEOUT_MS = 150_000
const PROJECT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Opens a store, which connects when it is first used. */
export function openStore({
  url,
  connectionsMax = CONNECTIONS_MAX_DEFAULT,
  applicationName = 'heddle',
  vectorCacheBytesMax = VECTOR_CACHE_BYTES_MAX,
  log,
}: StoreOptions): Store {
  const pool = openPool({ url, connectionsMax, applicationName })
  log?.debug({ connectionsMax }, 'store opened')
  const accesses = new AccessLog({
    write: (projectId, batch) => transact(pool, projectId, (tx) => recordAccesses(tx, batch)),
    ...(log && { log }),
  })
  const exact = createExactVectors({
    inSnapshot: (projectId, work) => transact(pool, projectId, work, { snapshot: true }),
    bytesMax: vectorCacheBytesMax,
  })
  const vectors: VectorSearch = {
    get cachedBytes() {
      return exact.cachedBytes
    },
    // Asked for each time: `heddle migrate` may make the index while this process runs.
    nearest: async (request) =>
      (await nearestByIndex((projectId, work) => transact(pool, projectId, work), request)) ??
      (await exact.nearest(request)),
  }
  return {
    async inProject(projectId, work, options) {
      if (!PROJECT_ID.test(projectId)) throw validationError('projectId', 'must be a UUID', projectId)
      return await transact(pool, projectId, work, options)
    },
    vectors,
    noteAccess: (projectId, entryId) => accesses.note(projectId, entryId),
    asReconciler: (work) => transact(pool, '', work),
    async ping() {
      await onConnection(pool, ({ sql }) => sql`select 1`)
    },
    async close() {
      await accesses.close(ACCESSES_CLOSE_MS)
      await pool.close(CLOSE_TIMEOUT_MS)
    },
  }
}

async function transact<T>(
  pool: Pool,
  projectId: string,
  work: (tx: Tx) => Promise<T>,
  { snapshot = false }: TransactionOptions = {},
): Promise<T> {
  return await onConnection(pool, async (connection) => {
    // Wrapped, since the type of `begin` awaits promises inside of arrays.
    const { value } = await connection.sql.begin(
      snapshot ? 'isolation level repeatable read read only' : '',
      async (tx) => {
        // Lost before it began, and connected anew by the driver itself: nobody would notice that this one closes.
        if (connection.lost) throw connectionLost()

        // Every query has an index that gives its rows in its order. On tables that grew faster than the server took its
        // statistics, the planner would rather read a thread, or the table, as a whole: it is kept from that, from compiling
        // queries that take less time than their compilation, and from parallel workers, which read ahead of a limit.
        //
        // Not awaited: it travels with the first statement of `work`. Where it fails, the transaction is aborted, each
        // statement after it fails too, and postgres.js throws the first error.
        tx`
        select
          set_config('role', 'heddle_app', true),
          set_config('heddle.project_id', ${projectId}, true),
          set_config('statement_timeout', ${`${STATEMENT_TIMEOUT_MS}`}, true),
          set_config('idle_in_transaction_session_timeout', ${`${IDLE_TIMEOUT_MS}`}, true),
          set_config('enable_seqscan', 'off', true),
          set_config('enable_bitmapscan', 'off', true),
          set_config('jit', 'off', true),
          set_config('max_parallel_workers_per_gather', '0', true)`.catch(() => {})
        try {
          return { value: await work(whileOpen(tx, connection)) }
        } finally {
          // Returning would send a commit or a rollback where nothing may be sent. The transaction has failed already.
          if (connection.lost) await new Promise(() => {})
        }
      },
    )
    return value
  })
}

/** Work that goes on after its connection closed fails at its next statement. */
function whileOpen(tx: Tx, connection: Connection): Tx {
  return new Proxy(tx, {
    apply(target, self, given) {
      if (connection.lost) throw connectionLost()
      return Reflect.apply(target, self, given)
    },
  })
}

async function onConnection<T>(pool: Pool, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await pool.acquire()
  let timer: NodeJS.Timeout | undefined
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      connection.lost = true
      reject(new RetryableError('TIMEOUT', `Postgres has not answered for ${TRANSACTION_TIMEOUT_MS} ms`))
    }, TRANSACTION_TIMEOUT_MS)
  })
  try {
    return await Promise.race([connection.opening.within(work(connection), () => (connection.lost = true)), overdue])
  } catch (error) {
    if (endsConnection(error)) connection.lost = true
    throw fromPostgres(error)
  } finally {
    clearTimeout(timer)
    pool.release(connection)
  }
}
