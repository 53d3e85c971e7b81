import type { PostgresConnection } from 'bullmq'
import type { KeyHolder } from '../base/backend.js'

/** The jobs that hold deduplication keys, in one statement and therefore as of one moment. */
export async function readHolders(
  pool: PostgresConnection['pool'],
  queue: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, KeyHolder>> {
  const { rows } = await pool.query<KeyHolder & { key: string }>(
    `SELECT dedup.dedup_id AS key, dedup.job_id AS "jobId", coalesce(job.state::text, 'unknown') AS state
     FROM dedup LEFT JOIN job ON job.queue = dedup.queue AND job.id = dedup.job_id
     WHERE dedup.queue = $1 AND dedup.dedup_id = ANY($2::text[])`,
    [queue, keys],
  )
  return new Map(rows.map(({ key, ...holder }) => [key, holder]))
}
