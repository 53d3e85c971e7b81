import { type ContextJob, errorData, HeddleError } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { type Job, LargeJobError, type Outcome, skipped } from '@heddle/queue'
import { type AskedContext, failContext, type Store } from '@heddle/store'

/**
 * Does the work of a context's job. If it fails for good, the reason is written to the row of the context, which the
 * requester reads.
 *
 * @throws errors of the work, unless a retry cannot help
 */
export async function recordFailure(
  job: Job<ContextJob>,
  { store }: { readonly store: Store },
  work: (job: Job<ContextJob>) => Promise<Outcome>,
): Promise<Outcome> {
  const { projectId, contextId, asked: carried, ...others } = job.payload
  try {
    return await work(job)
  } catch (error) {
    // The job continues in another process.
    if (error instanceof LargeJobError) throw error
    const isFinal = error instanceof HeddleError && error.disposition !== 'retry'
    if (isFinal || job.attempt >= job.attemptsMax) {
      const failed = { id: contextId, error: errorData(error), asked: requestOf(job.payload) }
      const isFailed = await store.inProject(projectId, (tx) => failContext(tx, failed))
      // A repeat with more time has written the row, and its job was merged with this one: the row's deadline counts.
      const isLate = isFinal && error.code === 'TIMEOUT'
      if (!isFailed && isLate && carried !== undefined)
        return await recordFailure({ ...job, payload: { projectId, contextId, ...others } }, { store }, work)
    }
    if (isFinal) return skipped(error.message)
    throw error
  }
}

/** The request in a job. Its project is that of the job, whatever the request itself claims. */
export function requestOf({ projectId, asked }: ContextJob): AskedContext | undefined {
  return asked && { ...asked, threadId: threadIdOf(projectId, asked.request.thread) }
}
