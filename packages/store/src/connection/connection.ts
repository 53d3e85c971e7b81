import type { Socket } from 'node:net'
import { PermanentError } from '@heddle/contracts'
import postgres from 'postgres'
import { CONNECT_TIMEOUT_MS } from './opening.js'
import { formatTime, parseTime } from './times.js'

/** A transaction of one project. Statements that are not awaited one by one are sent together. */
export type Tx = postgres.ISql<StoredTypes>

export type Connections = postgres.Sql<StoredTypes>

/** 64-bit integers and times are returned as numbers: sequence numbers and milliseconds since 1970. */
type StoredTypes = { bigint: number; date: number }

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`; `?prepare=false` for a pooler that knows no prepared statements. */
  readonly url: string
  readonly applicationName: string
  /** Connects a socket in place of the driver. */
  readonly socket?: (server: ServerAddress) => Promise<Socket>
}

/** A server as the driver reads it from an address: hosts with their ports, or the path of a socket. */
export interface ServerAddress {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path: string | false
}

/**
 * One connection, opened with its first statement.
 *
 * @param onOpen called when the server has accepted the connection
 * @param onClose called at the moment at which the socket closed
 * @throws PermanentError `VALIDATION_ERROR` for an invalid address
 */
export function connect({
  url,
  applicationName,
  socket,
  onOpen,
  onClose,
}: ConnectionOptions & { onOpen(): void; onClose(): void }): Connections {
  try {
    return postgres<{ bigint: postgres.PostgresType<number>; date: postgres.PostgresType<number> }>(url, {
      max: 1,
      connect_timeout: CONNECT_TIMEOUT_MS / 1_000,
      // All settings that the parsing of values depends on, in case the server, the database or the role set others.
      connection: { application_name: applicationName, TimeZone: 'UTC', DateStyle: 'ISO' },
      types: {
        bigint: { to: 20, from: [20], serialize: String, parse: Number },
        date: { to: 1184, from: [1184], serialize: formatTime, parse: parseTime },
      },
      transform: { column: { from: postgres.toCamel } },
      fetch_types: false,
      ...(socket && { socket }),
      onnotice: () => {},
      // The server sends its parameters after a successful login.
      onparameter: onOpen,
      onclose: onClose,
    })
  } catch (error) {
    // The address is not in the message, because it contains a password.
    throw new PermanentError(
      'VALIDATION_ERROR',
      'DATABASE_URL: must be an address such as postgres://user@host:5432/database',
      {
        field: 'DATABASE_URL',
        received: 'something else',
        cause: error,
      },
    )
  }
}
