import { HeddleError, PermanentError, RetryableError } from '@heddle/contracts'

/** Codes of Node and of Postgres that mean: the server is not there now, or takes no more connections. */
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

/** What the drivers say in texts only, and the replies of a Redis that is up but cannot serve. */
const awayTexts =
  /Connection is closed|Stream isn't writeable|max retries per request|Command timed out|Connection terminated|timeout exceeded when trying to connect|timeout expired|connection error and is not queryable|Client was closed|Query read timeout|^(?:LOADING|OOM|READONLY|MISCONF|BUSY|MASTERDOWN|CLUSTERDOWN)\b/

const refusedCodes = new Set(['28000', '28P01'])
const refusedTexts = /WRONGPASS|NOAUTH|NOPERM|invalid password|invalid username-password|password must be a string/i

/** True if an error says that the server is away, and that the same call may succeed later. */
export function isServerAway(error: unknown): boolean {
  if (error instanceof HeddleError) return error.code === 'SERVICE_UNAVAILABLE'
  return awayCodes.has(codeOf(error)) || awayTexts.test(textOf(error))
}

/**
 * Names what a driver threw: a server that is away is `SERVICE_UNAVAILABLE`, a refused password `UNAUTHORIZED`, a missing
 * right `FORBIDDEN`, a missing database `NOT_FOUND`. Anything else is returned as it is.
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
      hint: 'Run `heddle migrate`. If this came from it: run "grant create on database ... to ..." as a superuser, or set HEDDLE_ADMIN_DATABASE_URL to a user who may create schemas.',
    })
  }
  return error
}

/** What a server says that is up but does not serve, and what to do about it. */
const refusals: readonly { says: RegExp | string; what: string; hint: string }[] = [
  {
    says: /^OOM\b/,
    what: 'Redis is full: it holds as much as its maxmemory allows',
    hint: 'Raise maxmemory (redis-cli config set maxmemory ..., and in its configuration file), or have other programs use another Redis. Nothing was put on the queue; everything goes on by itself when there is room.',
  },
  {
    says: /^MISCONF\b/,
    what: 'Redis takes no writes because it cannot save to its disk',
    hint: 'JobRemovalScan into the log of Redis; most often its disk is full. Everything goes on by itself when it can save.',
  },
  {
    says: /^READONLY\b/,
    what: 'Redis is a replica, which takes no writes',
    hint: 'REDIS_URL must name the primary, or a name that follows it.',
  },
  {
    says: /^LOADING\b/,
    what: 'Redis is still loading its data',
    hint: 'Wait until it has; everything goes on by itself.',
  },
  {
    says: '25006',
    what: 'Postgres is read-only, so the queues take nothing',
    hint: 'DATABASE_URL must name the primary server, and default_transaction_read_only be off; everything goes on by itself then.',
  },
  {
    says: '53300',
    what: 'Postgres has no connection left for the queues',
    hint: 'Raise max_connections, or the limit of the role or database, or run fewer processes; `heddle doctor` shows the figures.',
  },
  {
    says: '53100',
    what: 'the disk of Postgres is full',
    hint: 'Make room on it; everything goes on by itself then.',
  },
]

function refusalOf(error: unknown, code: string) {
  const text = textOf(error)
  return refusals.find(({ says }) => (typeof says === 'string' ? says === code : says.test(text))) ?? null
}

function refusing({ what, hint }: { what: string; hint: string }, cause: unknown): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', what, { hint, retryAfter: 1, cause })
}

/** A full Redis, with the figures that its answer to a write does not have. */
export function redisFull(memory: { usedBytes: number; maxBytes: number }, cause: unknown): RetryableError {
  const [{ what, hint } = { what: '', hint: '' }] = refusals
  const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MB`
  return new RetryableError(
    'SERVICE_UNAVAILABLE',
    `${what} (${megabytes(memory.usedBytes)} used of ${megabytes(memory.maxBytes)})`,
    { hint, retryAfter: 1, cause, facts: { ...memory } },
  )
}

export function unavailable(server: 'Redis' | 'Postgres', cause?: unknown): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', `The queues cannot be reached: ${server} is away`, {
    hint: `Check that ${server} is running and reachable; \`heddle doctor\` tells more.`,
    retryAfter: 1,
    ...(cause !== undefined && { cause }),
  })
}

/**
 * The one error that BullMQ's worker answers with "wait, then try the same again". It knows Redis's connection errors by
 * this code, but takes those of Postgres for failures of the job at hand.
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
