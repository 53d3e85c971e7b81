import { HeddleError, PermanentError, RetryableError } from '@heddle/contracts'
import postgres from 'postgres'

const MIGRATE_HINT = 'Run `heddle migrate` against this database.'
const SERVER_HINT =
  'Check that the Postgres server runs and that DATABASE_URL names its host and port; `heddle doctor` shows more.'

/** A write on a read-only server or session. */
const READ_ONLY = '25006'
/** A write to a project that was moved away, by a process that does not know of other databases. */
const MOVED = 'HP001'
const CONNECTIONS_HINT =
  'Raise what is exhausted (max_connections; alter role ... connection limit ...; alter database ... connection limit ...), or run fewer processes; `heddle doctor` shows the figures.'

/** Codes of Node and postgres.js for a failed connection. */
const CONNECTION_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/**
 * Converts errors of postgres.js to typed errors. Errors that do not come from the server, and constraint violations, which
 * are faults of a program, are returned unchanged.
 */
export function fromPostgres(error: unknown): unknown {
  if (error instanceof HeddleError || !(error instanceof Error)) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (CONNECTION_CODES.has(code)) {
    return unreachable(code === 'CONNECT_TIMEOUT' ? 'no answer in time' : error.message || code, error)
  }
  return error instanceof postgres.PostgresError ? fromSqlState(error) : error
}

/**
 * Whether the connection of this error must be discarded, although its socket may still be open for a moment: a fatal error is
 * the server's last message.
 */
export function endsConnection(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) {
    // A session keeps the setting of its start: only a new one sees that the database is writable again.
    return error.code === READ_ONLY || ['FATAL', 'PANIC'].includes(error.severity)
  }
  return error instanceof Error && 'code' in error && CONNECTION_CODES.has(String(error.code))
}

export function unreachable(reason: string, cause?: unknown): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', `Postgres cannot be reached: ${reason}`, {
    hint: SERVER_HINT,
    ...(cause !== undefined && { cause }),
  })
}

export function connectionLost(): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', 'the connection to Postgres broke', { hint: SERVER_HINT })
}

/** @param isReplica null if unknown */
export function readOnly(cause?: unknown, isReplica: boolean | null = null): RetryableError {
  const why = isReplica === null ? '' : isReplica ? ': it is a replica' : ': default_transaction_read_only is on'
  return new RetryableError('SERVICE_UNAVAILABLE', `Postgres is read-only${why}`, {
    hint: 'Set DATABASE_URL to the primary server, and default_transaction_read_only to off (alter database ... reset default_transaction_read_only); work resumes by itself.',
    ...(cause !== undefined && { cause }),
  })
}

/** Which limit is exceeded, which the server reports only in the text of its message. */
function limitOf(message: string): string {
  if (/for role/.test(message)) return ', by the limit of the role'
  return /for database/.test(message) ? ', by the limit of the database' : ''
}

function fromSqlState(error: postgres.PostgresError): Error {
  const unavailable = (what: string, hint: string) =>
    new RetryableError('SERVICE_UNAVAILABLE', `${what}: ${error.message}`, { hint, cause: error })

  switch (error.code) {
    case '57P01':
    case '57P02':
    case '57P03':
    case '57P05':
      return unavailable('Postgres is restarting', SERVER_HINT)
    case READ_ONLY:
      return readOnly(error)
    case MOVED:
      return unavailable(
        'the project was moved to another database',
        'Start this process with the HEDDLE_DATABASES of the others.',
      )
    case '53300':
      return unavailable(`Postgres has no connection left${limitOf(error.message)}`, CONNECTIONS_HINT)
    case '53100':
      return unavailable(
        'the disk of Postgres is full',
        'Free space on it. No acknowledged data is lost, and work resumes by itself.',
      )
    case '53200':
      return unavailable('Postgres is out of memory', 'Give the Postgres server more memory.')
    case '3D000':
      return unavailable(
        'the database does not exist',
        'Create the database that DATABASE_URL names, then run `heddle migrate`.',
      )
    case '3F000':
    case '42P01':
    case '42883':
    case '42703':
      return unavailable('the database is not migrated', MIGRATE_HINT)
    case '22023':
      return error.message.includes('role') ? unavailable('the database is not migrated', MIGRATE_HINT) : error
    case '40001':
    case '40P01':
      return unavailable('a conflict with another transaction', 'Try again.')
    case '55P03':
    case '57014':
      return new RetryableError('TIMEOUT', `a statement ran out of time: ${error.message}`, { cause: error })
    case '28P01':
    case '28000':
      return new PermanentError('UNAUTHORIZED', `Postgres refused the login: ${error.message}`, {
        hint: 'Check the user and the password in DATABASE_URL.',
        cause: error,
      })
    case '42501':
      return new PermanentError('FORBIDDEN', `Postgres refused: ${error.message}`, {
        hint: error.hint ?? 'Run as a superuser: grant heddle_app to the user that DATABASE_URL names.',
        cause: error,
      })
    default:
      return error.code.startsWith('08') ? unavailable('the connection to Postgres broke', SERVER_HINT) : error
  }
}
