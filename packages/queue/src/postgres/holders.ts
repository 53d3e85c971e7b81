import type { PostgresConnection } from 'bullmq'

/** The state of the job that holds each of some keys against double wakes, in one round trip. */
export async function readHolders(
  pool: PostgresConnection['pool'],
  queue: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ key: string; state: string }>(
    `SELECT dedup.dedup_id AS key, coalesce(job.state::text, 'unknown') AS state
     FROM dedup LEFT JOIN job ON job.queue = dedup.queue AND job.id = dedup.job_id
     WHERE dedup.queue = $1 AND dedup.dedup_id = ANY($2::text[])`,
    [queue, keys],
  )
  return new Map(rows.map(({ key, state }) => [key, state]))
}
