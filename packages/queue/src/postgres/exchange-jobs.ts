import { setImmediate } from 'node:timers/promises'
import type { PostgresConnection } from 'bullmq'
import { bounds } from '../base/bounds.js'
import type { ExchangedJobs, JobExchange, TakenJob } from '../worker/job-batches.js'
import { turnJobsFunction } from './functions.js'

export interface ExchangedOnPostgres extends ExchangedJobs {
  /** Whether a job may wait that was not fetched: as many as were requested were, or another process had locked one. */
  readonly mayWait: boolean
}

/** Finishes jobs of a queue and fetches the next ones in one statement. */
export async function exchangeJobsOnPostgres(
  connection: PostgresConnection,
  queue: string,
  { ended, takes, token, lockMs }: JobExchange,
): Promise<ExchangedOnPostgres> {
  await connection.waitUntilReady()
  const { rows } = await connection.pool.query<ExchangeRow>(
    `SELECT * FROM ${turnJobsFunction}($1, $2::text[], $3::text[], $4, $5, $6, $7)`,
    [queue, ended.map(({ id }) => id), ended.map((job) => job.token), takes, token, lockMs, Date.now()],
  )
  // Lets the event loop run between reading megabytes from the socket and parsing them.
  if (rows.some(({ data }) => data !== null && data.length > bounds.pauseCharacters)) await setImmediate()
  const taken = rows.filter((row) => row.id !== null)
  const [rest] = rows.filter((row) => row.id === null)
  return {
    kept: rest?.kept ?? [],
    taken: taken.sort((one, other) => Number(one.seq) - Number(other.seq)).map(toTakenJob),
    nextAtMs: Number(rest?.next_at_ms ?? 0),
    mayWait: taken.length === takes || rest?.has_waiting === true,
  }
}

/** A job; the row whose `id` is null has `kept`, `next_at_ms` and `has_waiting`. */
interface ExchangeRow {
  id: string | null
  kept: string[] | null
  next_at_ms: string | null
  has_waiting: boolean | null
  seq: string
  token: string
  name: string
  data: string | null
  opts: TakenJob['opts']
  added_at_ms: string
  processed_at_ms: string
  attempts_made: number
  attempts_started: number
  stalled_count: number
  dedup_id: string | null
  failed_reason: string | null
}

function toTakenJob(row: ExchangeRow): TakenJob {
  return {
    id: row.id ?? '',
    token: row.token,
    name: row.name,
    data: row.data ?? '',
    opts: row.opts,
    progress: 0,
    timestamp: Number(row.added_at_ms),
    processedOn: Number(row.processed_at_ms),
    attemptsMade: row.attempts_made,
    attemptsStarted: row.attempts_started,
    stalledCounter: row.stalled_count,
    failedReason: row.failed_reason ?? '',
    returnvalue: 'null',
    ...(row.dedup_id !== null && { deduplicationId: row.dedup_id }),
  }
}
