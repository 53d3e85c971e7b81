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

/** The stages that look at what was stored. */
export const stagesAfterIngest = ['prune', 'embed'] as const

/**
 * Stores the messages of one job, exactly once and in order, and wakes the stages that work on the thread. A job that
 * comes again finds its messages stored and wakes the same stages.
 *
 * @throws ConflictError where a message's id is taken by another message; then nothing of the job is stored
 */
export async function ingest(job: Job<IngestJob>, deps: IngestDeps): Promise<Outcome> {
  const { projectId } = job.payload
  const prepared = deps.preparation.prepare(job.payload, deps.clock.nowMs())
  // The jobs of one fetch gather in one turn of the event loop, so that those of usual size are not waited for.
  const append = prepared instanceof Promise ? await prepared : prepared
  const outcome = await deps.commits.add(projectId, append)
  if (outcome.error !== null) throw errorFromData(outcome.error)
  const { threadId } = outcome
  // A job that comes again may have died before its stages were woken.
  const isDue = outcome.stored === 0 || deps.wakes.isDue({ projectId, threadId }, outcome.stored)
  const next = isDue ? stagesAfterIngest.map((wake) => ({ wake, projectId, threadId })) : []
  return outcome.stored === 0 ? skipped('already stored', next) : done(next)
}
