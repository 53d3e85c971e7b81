import { errorFromData, type IngestJob, stagesAfterIngest, stagesAfterIterations } from '@heddle/contracts'
import { done, type Job, type Outcome, skipped, type Wakes } from '@heddle/queue'
import { type SpanStart, traced } from '@heddle/runtime'
import type { AppendCommits } from '@heddle/store'

export interface IngestDeps {
  readonly commits: Pick<AppendCommits, 'add'>
  readonly wakes: Pick<Wakes, 'due'>
}

/**
 * Stores the messages of one job, exactly once and in order, and wakes the stages that work on the thread. A repeated job
 * finds its messages stored and wakes the same stages.
 *
 * @throws ConflictError if another message has the id of one of these; then nothing of the job is stored
 */
export async function ingest(job: Job<IngestJob>, { commits, wakes }: IngestDeps): Promise<Outcome> {
  const { projectId } = job.payload
  const outcome = await traced('commit messages', committing(job.payload), () => commits.add(job.payload))
  if (outcome.error !== null) throw errorFromData(outcome.error)
  const { threadId } = outcome
  // A repeated job always wakes the stages: its worker may have died between the commit and the wake.
  const thread = { projectId, threadId }
  const woken = outcome.stored === 0 ? thread : wakes.due(thread, outcome.stored)
  const hasIterations = job.payload.messages.some(({ iteration }) => iteration !== undefined)
  const next = [
    ...(woken === null ? [] : stagesAfterIngest.map((wake) => ({ wake, ...woken }))),
    ...(hasIterations ? stagesAfterIterations.map((wake) => ({ wake, ...thread })) : []),
  ]
  return outcome.stored === 0 ? skipped('already stored', next) : done(next)
}

/** The wait for the group of appends in whose transaction these messages are stored, and the transaction. */
function committing({ messages }: IngestJob): SpanStart {
  return { attributes: { 'heddle.messages': messages.length } }
}
