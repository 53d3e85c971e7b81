import type { IQueueBackend } from 'bullmq'

/** Jobs as BullMQ passes them to a server's backend. */
export type NewJobs = Parameters<IQueueBackend['addJobs']>[0]

/** Whether each job has an id, and has no delay, parent or deduplication key. */
export function arePlain(jobs: NewJobs): boolean {
  return jobs.every(isPlain)
}

function isPlain({ job, jobId, parentKeyOpts }: NewJobs[number]): boolean {
  return (
    jobId !== '' &&
    jobId !== undefined &&
    job.deduplicationId === undefined &&
    job.parent === undefined &&
    parentKeyOpts?.parentKey === undefined &&
    job.repeatJobKey === undefined &&
    !job.opts.delay &&
    !job.opts.priority &&
    job.opts.lifo !== true
  )
}
