import { setMaxListeners } from 'node:events'
import { RetryableError } from '@heddle/contracts'
import { Limiter, within } from '@heddle/runtime'
import { type ConnectionOptions, type Connections, connect } from './connection.js'
import { type Opening, watchOpening } from './opening.js'

/*
 * postgres.js 3.4 does not survive a server that goes away at the wrong moment: a statement that is sent on a connection
 * after its socket closed throws in a timer, where nothing catches it, and ends the process; and a connection whose socket
 * closed with a write under way never writes again, though the pool hands it out (porsager/postgres issues 1154 and 1208).
 *
 * So every connection here is a driver of its own with one connection. It is used by one transaction at a time, says when
 * its socket closed, and is thrown away then: what is lost is never written to again.
 */

export interface Connection {
  /**
   * Connects, the first time. What is asked for here is sent on this connection or on none: the driver never connects anew
   * in the middle of a transaction.
   */
  open(): Promise<Connections>
  /** Closes it at once. */
  end(): void
  /** Called when the socket closed under the work at hand. */
  onLost: () => void
  /** Whether the socket closed. Nothing may be sent from then on. */
  lost: boolean
  readonly opening: Opening
}

export interface Pool {
  /** @throws RetryableError `SERVICE_UNAVAILABLE` where no connection comes free in time, or the pool is closed */
  acquire(wanted?: WantedConnection): Promise<Connection>
  release(connection: Connection): void
  /** Waits for the connections in use, up to `timeoutMs`; then closes them all. */
  close(timeoutMs: number): Promise<void>
}

export interface WantedConnection {
  /** For whom: owners who wait get connections in turn. Default nobody in particular, as one owner. */
  readonly owner?: string
  /** Gets the next connection that comes free, whoever waits longer. */
  readonly isFirst?: boolean
}

/** Longer than any transaction of the pipeline takes: a caller that waits longer will not be served. */
const ACQUIRE_TIMEOUT_MS = 30_000

/** @throws PermanentError `VALIDATION_ERROR` where the address is none */
export function openPool({ connectionsMax, ...options }: ConnectionOptions & { connectionsMax: number }): Pool {
  const idle: Connection[] = []
  /** Connections in use, with what releases the permit of each. */
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

  // Made at once, though it opens with its first statement: so an address that is none is refused here.
  idle.push(create())

  /** A connection that is idle and was not lost meanwhile. */
  function takeIdle(): Connection | undefined {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (!connection.lost) return connection
      connection.end()
    }
    return undefined
  }

  return {
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

/** A connection that is still to be opened cannot be reserved: without types to fetch, postgres.js forgets who asked. */
async function reserve(sql: Connections): Promise<Connections> {
  await sql`select 1`
  return await sql.reserve()
}

function exhausted(connectionsMax: number): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', `no connection came free within ${ACQUIRE_TIMEOUT_MS} ms`, {
    hint: `This process uses at most ${connectionsMax} connections to Postgres; lower its concurrency, or raise that number (HEDDLE_STORE_CONNECTIONS).`,
  })
}
