import type { PostgresConnection } from 'bullmq'
import type { Backlog } from '../base/backend.js'
import { bounds } from '../base/bounds.js'

/**
 * The backlogs of BullMQ queues, in one statement. The server's clock decides about delays and ages, so that all processes get
 * the same figures. Ages are read from the first jobs of each priority: the index has no other order, and a retried job, which
 * keeps its place in it, may have waited less than the next ones.
 */
export async function readBacklogs(
  pool: PostgresConnection['pool'],
  queues: readonly string[],
): Promise<readonly Backlog[]> {
  const { rows } = await pool.query<BacklogRow>(
    `WITH clock AS MATERIALIZED (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms)
     SELECT asked.queue, ready.waiting, ready.prioritized, delayed.due, clock.now_ms AS "nowMs",
       EXISTS (SELECT FROM meta WHERE meta.queue = asked.queue AND meta.field = 'paused' AND meta.value = '1') AS paused,
       least(heads.since_ms, delayed.since_ms) AS "sinceMs"
     FROM clock CROSS JOIN unnest($1::text[]) WITH ORDINALITY AS asked (queue, number)
     CROSS JOIN LATERAL (
       SELECT count(*)::integer AS waiting, (count(*) FILTER (WHERE priority > 0))::integer AS prioritized
       FROM job WHERE job.queue = asked.queue AND state = 'waiting') AS ready
     CROSS JOIN LATERAL (
       SELECT count(*)::integer AS due, min(process_at_ms) FILTER (WHERE process_at_ms <= clock.now_ms) AS since_ms
       FROM job WHERE job.queue = asked.queue AND state = 'delayed'
         AND (process_at_ms <= clock.now_ms OR process_at_ms > clock.now_ms + ${bounds.dueMsMax})) AS delayed
     CROSS JOIN LATERAL (
       WITH RECURSIVE level AS (
         (SELECT priority, 1 AS number FROM job
          WHERE job.queue = asked.queue AND state = 'waiting' ORDER BY priority LIMIT 1)
         UNION ALL
         SELECT (SELECT min(job.priority) FROM job
                 WHERE job.queue = asked.queue AND state = 'waiting' AND job.priority > level.priority), level.number + 1
         FROM level WHERE level.priority IS NOT NULL AND level.number < ${bounds.backlogPrioritiesMax})
       SELECT min(head.since_ms) AS since_ms FROM level CROSS JOIN LATERAL (
         SELECT CASE WHEN process_at_ms <= clock.now_ms THEN greatest(added_at_ms, process_at_ms) ELSE added_at_ms END
           AS since_ms
         FROM job WHERE job.queue = asked.queue AND state = 'waiting' AND job.priority = level.priority
         ORDER BY seq LIMIT ${bounds.backlogSample}) AS head) AS heads
     ORDER BY asked.number`,
    [queues],
  )
  return rows.map(({ waiting, prioritized, due, paused, nowMs, sinceMs }) => {
    const oldestWaitMs = sinceMs === null ? null : Math.max(0, Number(nowMs) - Number(sinceMs))
    return { waiting, prioritized, due, paused, oldestWaitMs }
  })
}

interface BacklogRow {
  waiting: number
  prioritized: number
  due: number
  paused: boolean
  nowMs: string
  sinceMs: string | null
}
