import type { PartialSettings, WakeJob } from '@heddle/contracts'
import type { Summarizers } from '@heddle/models'
import {
  type DeadLetter,
  hereOrElsewhere,
  type LargeJobs,
  type Queues,
  type WorkerHandle,
  type WorkSize,
} from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { EventLog, type NewEvent, prepareContexts, type Store, storeEvents } from '@heddle/store'
import { summarize } from './handler.js'

export type { SummarizeDeps } from './deps.js'
export { summarize } from './handler.js'
export { PART_CALLS_PER_JOB_MAX } from './part-summaries.js'

export interface SummarizeWorkerDeps {
  readonly store: Store
  readonly queues: Queues
  /** Selects the summarizer of an agent. */
  readonly summarizers: Summarizers
  readonly clock: Clock
  readonly log: Logger
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  readonly settings: PartialSettings
  readonly concurrency?: number
  /** Runs large jobs. Default: this process. */
  readonly large?: LargeJobs<WakeJob, NewEvent>
}

export async function createSummarizeWorker(deps: SummarizeWorkerDeps): Promise<WorkerHandle> {
  const events = new EventLog({
    ...deps,
    append: (projectId, drafts) => storeEvents(deps.store, { projectId, events: drafts }),
    publish: (event) => deps.queues.publish(event),
  })
  const publishCompacted = (projectId: string, threadId: string, stateId: string) =>
    events.add(projectId, { topic: 'thread.compacted', threadId, subjectId: stateId })
  const worker = await deps.queues.defineWorker({
    ...deps,
    stage: 'summarize',
    async handler(job) {
      const { projectId } = job.payload
      const outcome = await hereOrElsewhere({
        job,
        large: deps.large,
        here: (sizeMax?: WorkSize) => summarize(job, { ...deps, publishCompacted, sizeMax }),
        publish: (event) => events.add(projectId, event),
      })
      // Contexts prepared earlier lack the new summary. If prune follows, it prepares them again.
      if (!outcome.next.some(({ wake }) => wake === 'prune')) {
        await prepareContexts(deps.store, job.payload, (next) => deps.queues.add('assemble', next))
      }
      return outcome
    },
  })
  return {
    ...worker,
    async close(options) {
      await worker.close(options)
      await events.close()
    },
  }
}
