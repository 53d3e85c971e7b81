import { errorFromData, type IngestJob } from '@heddle/contracts'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import type { GroupCommit } from './group-commit.js'
import { prepareAppend } from './prepare.js'

export interface IngestDeps {
  readonly commits: GroupCommit
  readonly clock: Clock
}

/**
 * Stores the messages of one job, exactly once and in order, and wakes the stages that work on the thread. A job that
 * comes again finds its messages stored and wakes the same stages.
 *
 * @throws ConflictError where a message's id is taken by another message; then nothing of the job is stored
 */
export async function ingest(job: Job<IngestJob>, deps: IngestDeps): Promise<Outcome> {
  const { projectId } = job.payload
  const append = prepareAppend(job.payload, deps.clock.nowMs())
  const outcome = await deps.commits.add(projectId, append)
  if (outcome.error !== null) throw errorFromData(outcome.error)
  const { threadId } = outcome
  const next = [
    { wake: 'prune' as const, projectId, threadId },
    { wake: 'embed' as const, projectId, threadId },
  ]
  return outcome.stored === 0 ? skipped('already stored', next) : done(next)
}
