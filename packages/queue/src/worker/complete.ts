import type { IQueueBackend } from 'bullmq'
import type { JobBatches } from './job-batches.js'

type Complete = IQueueBackend['moveToCompleted']

/**
 * Removes a completed job together with the others of its tick.
 *
 * @param options.isClosing whether the worker fetches no more jobs: they would have to be released
 * @param options.completeOne BullMQ's method, for a job that is not to be removed, that has a deduplication key, or whose
 *   lock was lost
 */
export async function completeInBatch(
  batches: JobBatches,
  [job, returnValue, removeOnComplete, token, fetchNext]: Parameters<Complete>,
  { isClosing, completeOne }: { readonly isClosing: boolean; readonly completeOne: Complete },
): ReturnType<Complete> {
  const finishedOn = Date.now()
  if (removeOnComplete === true && job.opts.deduplication === undefined) {
    const takes = fetchNext && !isClosing
    const { isGone, taken } = await batches.finish(job.id ?? '', token, takes)
    if (isGone) return { result: takes ? batches.next(taken) : undefined, finishedOn }
  }
  return await completeOne(job, returnValue, removeOnComplete, token, fetchNext)
}
