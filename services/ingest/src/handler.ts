import { errorFromData, type IngestJob } from '@heddle/contracts'
import { done, type Job, type Outcome, skipped } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import type { GroupCommit } from './group-commit.js'
import type { Preparation } from './prepare.js'
import type { Wakes } from './wakes.js'

export interface IngestDeps {
  readonly commits: GroupCommit
  readonly preparation: Preparation
  readonly wakes: Pick<Wakes, 'isDue'>
  readonly clock: Clock
}

/** The stages that are woken after messages were stored. */
export const stagesAfterIngest = ['prune', 'embed'] as const

/**
 * Stores the messages of one job, exactly once and in order, and wakes the stages that work on the thread. A repeated job
 * finds its messages stored and wakes the same stages.
 *
 * @throws ConflictError if another message has the id of one of these; then nothing of the job is stored
 */
export async function ingest(job: Job<IngestJob>, deps: IngestDeps): Promise<Outcome> {
  const { projectId } = job.payload
  const prepared = deps.preparation.prepare(job.payload, deps.clock.nowMs())
  // `await` only for large messages: the other jobs of a fetch then reach the group commit in the same tick and commit together.
  const append = prepared instanceof Promise ? await prepared : prepared
  const outcome = await deps.commits.add(projectId, append)
  if (outcome.error !== null) throw errorFromData(outcome.error)
  const { threadId } = outcome
  // A repeated job always wakes the stages: its worker may have died between the commit and the wake.
  const isDue = outcome.stored === 0 || deps.wakes.isDue({ projectId, threadId }, outcome.stored)
  const next = isDue ? stagesAfterIngest.map((wake) => ({ wake, projectId, threadId })) : []
  return outcome.stored === 0 ? skipped('already stored', next) : done(next)
}
