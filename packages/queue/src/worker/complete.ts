import type { IQueueBackend } from 'bullmq'
import type { JobBatches } from './job-batches.js'

type Complete = IQueueBackend['moveToCompleted']

/**
 * Ends a job that is only to be removed, beside the others of its tick.
 *
 * @param isClosing whether the worker takes no more jobs: they would be given back
 * @param byItself BullMQ's way, for a job that is kept, that has a key against doubles, or that is no longer the worker's
 */
export async function completeInTurn(
  turns: JobBatches,
  [job, returnValue, removeOnComplete, token, fetchNext]: Parameters<Complete>,
  { isClosing, byItself }: { readonly isClosing: boolean; readonly byItself: Complete },
): ReturnType<Complete> {
  const finishedOn = Date.now()
  if (removeOnComplete === true && job.opts.deduplication === undefined) {
    const takes = fetchNext && !isClosing
    const { isGone, taken } = await turns.finish(job.id ?? '', token, takes)
    if (isGone) return { result: takes ? turns.next(taken) : undefined, finishedOn }
  }
  return await byItself(job, returnValue, removeOnComplete, token, fetchNext)
}
