import { PermanentError } from '@heddle/contracts'
import postgres from 'postgres'
import { CONNECT_TIMEOUT_MS } from './opening.js'
import { formatTime, parseTime } from './times.js'

/** A transaction of one project. Statements that are not awaited one by one travel together. */
export type Tx = postgres.ISql<StoredTypes>

export type Connections = postgres.Sql<StoredTypes>

/** Whole numbers of 64 bits and times come as numbers: sequence numbers and milliseconds since 1970. */
type StoredTypes = { bigint: number; date: number }

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`; `?prepare=false` for a pooler that knows no prepared statements. */
  readonly url: string
  readonly applicationName: string
}

/**
 * One connection, opened with its first statement.
 *
 * @param onOpen called when the server has taken the connection in
 * @param onClose called at the moment at which the socket closed
 * @throws PermanentError `VALIDATION_ERROR` where the address is none
 */
export function connect({
  url,
  applicationName,
  onOpen,
  onClose,
}: ConnectionOptions & { onOpen(): void; onClose(): void }): Connections {
  try {
    return postgres<{ bigint: postgres.PostgresType<number>; date: postgres.PostgresType<number> }>(url, {
      max: 1,
      connect_timeout: CONNECT_TIMEOUT_MS / 1_000,
      // Everything that reading a value depends on, whatever the server, the database or the login role have set.
      connection: { application_name: applicationName, TimeZone: 'UTC', DateStyle: 'ISO' },
      types: {
        bigint: { to: 20, from: [20], serialize: String, parse: Number },
        date: { to: 1184, from: [1184], serialize: formatTime, parse: parseTime },
      },
      transform: { column: { from: postgres.toCamel } },
      fetch_types: false,
      onnotice: () => {},
      // A server names its parameters when the login has succeeded.
      onparameter: onOpen,
      onclose: onClose,
    })
  } catch (error) {
    // The address itself stays out of the message: it holds a password.
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
