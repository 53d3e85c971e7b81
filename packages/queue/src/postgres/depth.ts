import type { PostgresConnection } from 'bullmq'
import type { QueueDepth } from '../base/backend.js'
import { bounds } from '../base/bounds.js'

/**
 * The waiting jobs of a BullMQ queue. Counting stops at the limit, and sizes are read from the rows' headers, so that no
 * payload is fetched. The size of a payload is that of its stored form.
 */
export async function readDepth(pool: PostgresConnection['pool'], queue: string, jobsMax: number): Promise<QueueDepth> {
  const { rows } = await pool.query<{ jobs: number; bytes: number }>(
    `WITH waiting AS (
       SELECT count(*)::integer AS jobs
       FROM (SELECT FROM job WHERE queue = $1 AND state = 'waiting' LIMIT $2) AS found),
     sample AS (
       (SELECT pg_column_size(data) AS size FROM job
        WHERE queue = $1 AND state = 'waiting' ORDER BY priority, seq LIMIT $3)
       UNION ALL
       (SELECT pg_column_size(data) FROM job
        WHERE queue = $1 AND state = 'waiting' ORDER BY priority DESC, seq DESC LIMIT $3))
     SELECT jobs, (jobs * coalesce((SELECT avg(size) FROM sample), 0))::float AS bytes FROM waiting`,
    // One more than the limit shows that it is exceeded.
    [queue, jobsMax + 1, bounds.depthSample],
  )
  return rows[0] ?? { jobs: 0, bytes: 0 }
}
