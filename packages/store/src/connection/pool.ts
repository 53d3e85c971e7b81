import { RetryableError } from '@heddle/contracts'
import { FairLine } from '@heddle/runtime'
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

interface Waiter {
  resolve(connection: Connection): void
  reject(error: Error): void
}

/** Longer than any transaction of the pipeline takes: who waits longer will not be served. */
const ACQUIRE_TIMEOUT_MS = 30_000

/** @throws PermanentError `VALIDATION_ERROR` where the address is none */
export function openPool({ connectionsMax, ...options }: ConnectionOptions & { connectionsMax: number }): Pool {
  const open = new Set<Connection>()
  const idle: Connection[] = []
  const waiting = new FairLine<Waiter>()
  const waitingFirst = new FairLine<Waiter>()
  let closed: RetryableError | null = null
  let onDrained = () => {}

  function add(): Connection {
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
    open.add(connection)
    return connection
  }

  // Made at once, though it opens with its first statement: so an address that is none is refused here.
  idle.push(add())

  function discard(connection: Connection): void {
    open.delete(connection)
    connection.end()
  }

  function release(connection: Connection): void {
    connection.onLost = () => {}
    if (connection.lost || closed !== null) discard(connection)
    else idle.push(connection)
    if (idle.length > 0 || open.size < connectionsMax) {
      const next = waitingFirst.take() ?? waiting.take()
      next?.resolve(idle.pop() ?? add())
    }
    if (open.size === 0) onDrained()
  }

  return {
    async acquire({ owner = '', isFirst = false } = {}) {
      if (closed !== null) throw closed
      for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
        if (!connection.lost) return connection
        discard(connection)
      }
      if (open.size < connectionsMax) return add()
      const line = isFirst ? waitingFirst : waiting
      return await new Promise<Connection>((resolve, reject) => {
        const waiter: Waiter = {
          resolve: (connection) => settle(() => resolve(connection)),
          reject: (error) => settle(() => reject(error)),
        }
        const timer = setTimeout(() => waiter.reject(exhausted(connectionsMax)), ACQUIRE_TIMEOUT_MS)
        const settle = (then: () => void) => {
          clearTimeout(timer)
          leave()
          then()
        }
        const leave = line.add(owner, waiter)
      })
    },

    release,

    async close(timeoutMs) {
      if (closed !== null) return
      closed = new RetryableError('SERVICE_UNAVAILABLE', 'the store is closed')
      for (const waiter of [...waitingFirst, ...waiting]) waiter.reject(closed)
      for (const connection of idle.splice(0)) discard(connection)
      if (open.size === 0) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        onDrained = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      for (const connection of open) {
        connection.lost = true
        discard(connection)
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
