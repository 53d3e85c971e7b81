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
