import type { PostgresConnection } from 'bullmq'
import type { TracedJob } from '../base/backend.js'
import { CAUSES_MAX } from '../send/carrier.js'

/**
 * Adds causes to the jobs that hold the deduplication keys of wakes, unless these are the wakes' own, or have begun.
 *
 * @param wakes of different threads
 */
export async function addCauses(
  pool: PostgresConnection['pool'],
  queue: string,
  wakes: readonly TracedJob[],
): Promise<void> {
  const columns = [wakes.map(({ key }) => key), wakes.map(({ jobId }) => jobId), wakes.map(({ carrier }) => carrier)]
  await pool.query(
    `UPDATE job SET opts = jsonb_set(job.opts, '{telemetry}',
       jsonb_build_object('metadata', concat_ws(' ', job.opts #>> '{telemetry,metadata}', wake.carrier)))
     FROM unnest($2::text[], $3::text[], $4::text[]) AS wake (key, job_id, carrier)
     JOIN dedup ON dedup.queue = $1 AND dedup.dedup_id = wake.key AND dedup.job_id <> wake.job_id
     WHERE job.queue = $1 AND job.id = dedup.job_id AND job.state IN ('waiting', 'delayed')
       AND cardinality(string_to_array(coalesce(job.opts #>> '{telemetry,metadata}', ''), ' ')) < $5`,
    [queue, ...columns, CAUSES_MAX],
  )
}
