import type { PostgresConnection } from 'bullmq'
import type { TracedJob } from '../base/backend.js'
import { CAUSES_MAX } from '../send/carrier.js'

/** Adds causes to the jobs that hold the deduplication keys of wakes, unless these are the wakes' own, or have begun. */
export async function addCauses(
  pool: PostgresConnection['pool'],
  queue: string,
  wakes: readonly TracedJob[],
): Promise<void> {
  // A statement for each wake: two of one thread must see each other's causes.
  for (const { jobId, key, carrier } of wakes) {
    await pool.query(
      `UPDATE job SET opts = jsonb_set(job.opts, '{telemetry}',
         jsonb_build_object('metadata', concat_ws(' ', job.opts #>> '{telemetry,metadata}', $4::text)))
       FROM dedup
       WHERE dedup.queue = $1 AND dedup.dedup_id = $2 AND dedup.job_id <> $3
         AND job.queue = $1 AND job.id = dedup.job_id AND job.state IN ('waiting', 'delayed')
         AND cardinality(string_to_array(coalesce(job.opts #>> '{telemetry,metadata}', ''), ' ')) < $5`,
      [queue, key, jobId, carrier, CAUSES_MAX],
    )
  }
}
