import { errorFromData, type IngestJob, stagesAfterIngest, stagesAfterIterations } from '@heddle/contracts'
import { done, type Job, type Outcome, skipped, type Wakes } from '@heddle/queue'
import type { AppendCommits } from '@heddle/store'

export interface IngestDeps {
  readonly commits: Pick<AppendCommits, 'add'>
  readonly wakes: Pick<Wakes, 'isDue'>
}

/**
 * Stores the messages of one job, exactly once and in order, and wakes the stages that work on the thread. A repeated job
 * finds its messages stored and wakes the same stages.
 *
 * @throws ConflictError if another message has the id of one of these; then nothing of the job is stored
 */
export async function ingest(job: Job<IngestJob>, { commits, wakes }: IngestDeps): Promise<Outcome> {
  const { projectId } = job.payload
  const outcome = await commits.add(job.payload)
  if (outcome.error !== null) throw errorFromData(outcome.error)
  const { threadId } = outcome
  // A repeated job always wakes the stages: its worker may have died between the commit and the wake.
  const isDue = outcome.stored === 0 || wakes.isDue({ projectId, threadId }, outcome.stored)
  const hasIterations = job.payload.messages.some(({ iteration }) => iteration !== undefined)
  const due = [...(isDue ? stagesAfterIngest : []), ...(hasIterations ? stagesAfterIterations : [])]
  const next = due.map((wake) => ({ wake, projectId, threadId }))
  return outcome.stored === 0 ? skipped('already stored', next) : done(next)
}
