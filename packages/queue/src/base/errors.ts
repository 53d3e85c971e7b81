import { HeddleError, PermanentError, RetryableError } from '@heddle/contracts'

/** Codes of Node and of Postgres that mean that the server is down or accepts no more connections. */
const awayCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '25006',
  '53100',
  '53200',
  '53300',
  '57P01',
  '57P02',
  '57P03',
])

/** Errors of the drivers that have no code, and replies of a Redis that is up but cannot serve. */
const awayTexts =
  /Connection is closed|Stream isn't writeable|max retries per request|Command timed out|Connection terminated|timeout exceeded when trying to connect|timeout expired|connection error and is not queryable|Client was closed|Query read timeout|Socket timeout|All sentinels are unreachable|^(?:LOADING|OOM|READONLY|MISCONF|BUSY|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|UNBLOCKED)\b/

const refusedCodes = new Set(['28000', '28P01'])
const refusedTexts = /WRONGPASS|NOAUTH|NOPERM|invalid password|invalid username-password|password must be a string/i

/** True if the server is down and the same call may succeed later. */
export function isServerAway(error: unknown): boolean {
  if (error instanceof HeddleError) return error.code === 'SERVICE_UNAVAILABLE'
  return awayCodes.has(codeOf(error)) || awayTexts.test(textOf(error))
}

/**
 * Converts errors of a driver: a server that is down is `SERVICE_UNAVAILABLE`, a refused password `UNAUTHORIZED`, a missing
 * privilege `FORBIDDEN`, a missing database `NOT_FOUND`. Any other error is returned unchanged.
 */
export function namedError(error: unknown, server: 'Redis' | 'Postgres'): unknown {
  if (error instanceof HeddleError) return error
  const code = codeOf(error)
  const details = { cause: error }
  if (refusedCodes.has(code) || refusedTexts.test(textOf(error))) {
    return new PermanentError('UNAUTHORIZED', `${server} refused the user name or password for the queues`, {
      ...details,
      hint: `Check the credentials in ${server === 'Redis' ? 'REDIS_URL' : 'DATABASE_URL'}.`,
    })
  }
  const refusal = refusalOf(error, code)
  if (refusal !== null) return refusing(refusal, error)
  if (isServerAway(error)) return unavailable(server, error)
  if (code === '3D000') {
    return new PermanentError('NOT_FOUND', 'The database of the queues does not exist', {
      ...details,
      hint: 'Create it, or correct DATABASE_URL.',
    })
  }
  if (code === '42501') {
    return new PermanentError('FORBIDDEN', 'The database user may not create or use the schema of the queues', {
      ...details,
      hint: 'Run `heddle migrate`. If `heddle migrate` itself failed with this: run "grant create on database ... to ..." as a superuser, or set HEDDLE_ADMIN_DATABASE_URL to a user who may create schemas.',
    })
  }
  return error
}

/** Errors of a server that is up but does not serve, each with a hint. */
const refusals: readonly { says: RegExp | string; what: string; hint: string }[] = [
  {
    says: /^OOM\b/,
    what: 'Redis is full: it has reached its maxmemory',
    hint: 'Raise maxmemory (redis-cli config set maxmemory ..., and in its configuration file), or move other programs to another Redis. Nothing was put on the queue; work resumes by itself when memory is free.',
  },
  {
    says: /^MISCONF\b/,
    what: 'Redis refuses writes because it cannot save to its disk',
    hint: 'Read the log of Redis; most often its disk is full. Work resumes by itself when Redis can save.',
  },
  {
    says: /^READONLY\b/,
    what: 'Redis is a replica, which refuses writes',
    hint: 'Set REDIS_URL to the primary, to a host name that always resolves to the primary, or to its sentinels (redis+sentinel://host:26379,host:26379/name).',
  },
  {
    says: /^NOREPLICAS\b/,
    what: 'Redis refuses writes because too few of its replicas can be reached',
    hint: 'Wait for a failover, or bring back replicas (min-replicas-to-write); work resumes by itself.',
  },
  {
    says: /^LOADING\b/,
    what: 'Redis is still loading its data',
    hint: 'Wait until it has finished; work resumes by itself.',
  },
  {
    says: '25006',
    what: 'Postgres is read-only, so no jobs can be added or processed',
    hint: 'Set DATABASE_URL to the primary server, and default_transaction_read_only to off; work resumes by itself.',
  },
  {
    says: '53300',
    what: 'Postgres has no connection left for the queues',
    hint: 'Raise max_connections, or the limit of the role or database, or run fewer processes; `heddle doctor` shows the figures.',
  },
  {
    says: '53100',
    what: 'the disk of Postgres is full',
    hint: 'Free space on it; work resumes by itself.',
  },
]

function refusalOf(error: unknown, code: string) {
  const text = textOf(error)
  return refusals.find(({ says }) => (typeof says === 'string' ? says === code : says.test(text))) ?? null
}

function refusing({ what, hint }: { what: string; hint: string }, cause: unknown): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', what, { hint, retryAfter: 1, cause })
}

/** The error of a full Redis, with figures that are missing in the reply to a refused write. */
export function redisFull(memory: { usedBytes: number; maxBytes: number }, cause: unknown): RetryableError {
  const [{ what, hint } = { what: '', hint: '' }] = refusals
  const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MB`
  return new RetryableError(
    'SERVICE_UNAVAILABLE',
    `${what} (${megabytes(memory.usedBytes)} used of ${megabytes(memory.maxBytes)})`,
    { hint, retryAfter: 1, cause, facts: { ...memory } },
  )
}

export function invalidAddress(): PermanentError {
  // The address is not in the message, because it contains a password.
  return new PermanentError(
    'VALIDATION_ERROR',
    'REDIS_URL: must be an address such as redis://host:6379, or redis+sentinel://host:26379,host:26379/name',
    { field: 'REDIS_URL', received: 'something else' },
  )
}

export function unavailable(server: 'Redis' | 'Postgres', cause?: unknown): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', `The queues cannot be reached: ${server} is down`, {
    hint: `Check that ${server} is running and reachable; \`heddle doctor\` shows details.`,
    retryAfter: 1,
    ...(cause !== undefined && { cause }),
  })
}

/**
 * The one error after which BullMQ's worker waits and retries the same call. BullMQ recognizes Redis's connection errors by
 * this code, but treats those of Postgres as failures of the current job.
 */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
  readonly code = 'ECONNREFUSED'
  constructor(cause: unknown) {
    super('connection to the queue server lost', { cause })
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
