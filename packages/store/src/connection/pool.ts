import { setMaxListeners } from 'node:events'
import { RetryableError } from '@heddle/contracts'
import { Limiter, within } from '@heddle/runtime'
import { type Lineages, newLineages } from '../forks/lineage.js'
import { type ConnectionOptions, type Connections, connect } from './connection.js'
import { type Opening, watchOpening } from './opening.js'

/*
 * postgres.js 3.4 does not survive a server that stops at the wrong moment: a statement that is sent on a connection after its
 * socket closed throws in a timer, where nothing can catch it, and ends the process; and a connection whose socket closed
 * during a write never writes again, although the pool still returns it (porsager/postgres issues 1154 and 1208).
 *
 * So every connection here is a separate driver instance with one connection. It is used by one transaction at a time, reports
 * when its socket closed, and is then discarded.
 */

export interface Connection {
  /**
   * Connects, the first time. Statements are sent on this connection or fail: the driver never reconnects in the middle of a
   * transaction.
   */
  open(): Promise<Connections>
  /** Closes it at once. */
  end(): void
  /** Called when the socket closed during a transaction. */
  onLost: () => void
  /** Whether the socket closed. Nothing may be sent from then on. */
  lost: boolean
  readonly opening: Opening
}

export interface Pool {
  /** The lineages of threads that its transactions have read. */
  readonly lineages: Lineages
  /** @throws RetryableError `SERVICE_UNAVAILABLE` if no connection becomes free in time, or the pool is closed */
  acquire(wanted?: WantedConnection): Promise<Connection>
  release(connection: Connection): void
  /** Waits for the connections in use, up to `timeoutMs`; then closes them all. */
  close(timeoutMs: number): Promise<void>
}

export interface WantedConnection {
  /** The owner: waiting owners get connections alternately. Callers without one count as one owner. */
  readonly owner?: string
  /** Gets the next free connection, before callers that wait longer. */
  readonly isFirst?: boolean
}

/** Longer than any transaction of the pipeline takes: a caller that waits longer will not be served. */
const ACQUIRE_TIMEOUT_MS = 30_000

/** @throws PermanentError `VALIDATION_ERROR` for an invalid address */
export function openPool({ connectionsMax, ...options }: ConnectionOptions & { connectionsMax: number }): Pool {
  const idle: Connection[] = []
  /** Connections in use, with the function that releases the permit of each. */
  const inUse = new Map<Connection, () => void>()
  const permits = new Limiter({
    atOnce: connectionsMax,
    deadline: { timeoutMs: ACQUIRE_TIMEOUT_MS, error: () => exhausted(connectionsMax) },
  })
  const closing = new AbortController()
  // All callers that wait for a connection listen to it, which may be many.
  setMaxListeners(0, closing.signal)

  function create(): Connection {
    const opening = watchOpening()
    const onClose = () => {
      connection.lost = true
      connection.onLost()
    }
    const sql = connect({ ...options, onOpen: opening.opened, onClose })
    let reserved: Promise<Connections> | undefined
    const connection: Connection = {
      open: () => {
        reserved ??= reserve(sql)
        return reserved
      },
      end: () => void sql.end({ timeout: 0 }),
      onLost: () => {},
      lost: false,
      opening,
    }
    return connection
  }

  // Created now although it opens with its first statement, so that an invalid address is refused here.
  idle.push(create())

  /** An idle connection that was not lost meanwhile. */
  function takeIdle(): Connection | undefined {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (!connection.lost) return connection
      connection.end()
    }
    return undefined
  }

  return {
    lineages: newLineages(),

    async acquire({ owner, isFirst } = {}) {
      const releasePermit = await permits.acquire({ key: owner, isFirst, signal: closing.signal })
      const connection = takeIdle() ?? create()
      inUse.set(connection, releasePermit)
      return connection
    },

    release(connection) {
      connection.onLost = () => {}
      if (connection.lost || closing.signal.aborted) connection.end()
      else idle.push(connection)
      inUse.get(connection)?.()
      inUse.delete(connection)
    },

    async close(timeoutMs) {
      if (closing.signal.aborted) return
      closing.abort(new RetryableError('SERVICE_UNAVAILABLE', 'the store is closed'))
      for (const connection of idle.splice(0)) connection.end()
      await within(permits.whenIdle(), { timeoutMs, late: () => {} })
      for (const connection of inUse.keys()) {
        connection.lost = true
        connection.end()
      }
    },
  }
}

/** A connection must be open before it can be reserved: without types to fetch, postgres.js loses the request otherwise. */
async function reserve(sql: Connections): Promise<Connections> {
  await sql`select 1`
  return await sql.reserve()
}

function exhausted(connectionsMax: number): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', `no connection became free within ${ACQUIRE_TIMEOUT_MS} ms`, {
    hint: `This process uses at most ${connectionsMax} connections to Postgres; lower its concurrency, or raise that number (HEDDLE_STORE_CONNECTIONS).`,
  })
}
