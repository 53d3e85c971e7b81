import type { PostgresConnection } from 'bullmq'
import type { QueueDepth } from '../base/backend.js'
import { bounds } from '../base/bounds.js'

/**
 * What waits in one of BullMQ's queues. Counting stops where the queue is full, and sizes are read from the rows' heads, so
 * that no payload is fetched. Payloads are kept compressed: their size is what they take of the server's room.
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
    // One more than the bound: enough to know that it is passed.
    [queue, jobsMax + 1, bounds.depthSample],
  )
  return rows[0] ?? { jobs: 0, bytes: 0 }
}
