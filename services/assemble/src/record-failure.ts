import { type ContextJob, errorData, HeddleError } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { type Job, LargeJobError, type Outcome, skipped } from '@heddle/queue'
import { type AskedContext, failContext, type Store } from '@heddle/store'

/**
 * Does the work of a context's job. Where it fails for good, the reason goes into the row of the context, which is where its
 * requester looks.
 *
 * @throws what the work throws, unless trying again cannot help
 */
export async function recordFailure(
  job: Job<ContextJob>,
  { store }: { readonly store: Store },
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const { projectId, contextId } = job.payload
  try {
    return await work()
  } catch (error) {
    // The job goes on elsewhere.
    if (error instanceof LargeJobError) throw error
    const isFinal = error instanceof HeddleError && error.disposition !== 'retry'
    if (isFinal || job.attempt >= job.attemptsMax) {
      const failed = { id: contextId, error: errorData(error), asked: requestOf(job.payload) }
      await store.inProject(projectId, (tx) => failContext(tx, failed))
    }
    if (isFinal) return skipped(error.message)
    throw error
  }
}

/** The request that a job carries. Whose it is says its project: a job may say anything. */
export function requestOf({ projectId, asked }: ContextJob): AskedContext | undefined {
  return asked && { ...asked, threadId: threadIdOf(projectId, asked.request.thread) }
}
