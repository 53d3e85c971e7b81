import type { PartialSettings } from '@heddle/contracts'
import type { Summarizers } from '@heddle/models'
import { type DeadLetter, defineWorker, type Queues, type WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { appendEvents, prepareContexts, type Store } from '@heddle/store'
import { summarize } from './handler.js'

export { type SummarizeDeps, summarize } from './handler.js'
export { PART_CALLS_PER_JOB_MAX } from './part-summaries.js'

export interface SummarizeWorkerDeps {
  readonly store: Store
  readonly queues: Queues
  /** Which one writes the summaries of an agent. */
  readonly summarizers: Summarizers
  readonly clock: Clock
  readonly log: Logger
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  readonly settings: PartialSettings
  readonly concurrency?: number
}

export function createSummarizeWorker(deps: SummarizeWorkerDeps): Promise<WorkerHandle> {
  return defineWorker({
    ...deps,
    stage: 'summarize',
    async handler(job) {
      const outcome = await summarize(job, { ...deps, tellCompacted })
      // What was prepared before has no summary, or the one before.
      await prepareContexts(deps.store, job.payload, (next) => deps.queues.add('assemble', next))
      return outcome
    },
  })

  async function tellCompacted(projectId: string, threadId: string, stateId: string): Promise<void> {
    const draft = { topic: 'thread.compacted' as const, threadId, subjectId: stateId, headSeq: null }
    const events = await deps.store.inProject(projectId, (tx) => appendEvents(tx, { projectId, events: [draft] }))
    await Promise.all(events.map((event) => deps.queues.publish(event)))
  }
}
