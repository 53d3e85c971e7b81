import type { PartialSettings, PrunedCounts, WakeJob } from '@heddle/contracts'
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
import { type Pruned, prune } from './handler.js'

export { type PruneDeps, type Pruned, prune } from './handler.js'

export interface PruneWorkerDeps {
  readonly store: Store
  readonly queues: Queues
  readonly clock: Clock
  readonly log: Logger
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  readonly settings: PartialSettings
  readonly concurrency?: number
  /** Runs large jobs. Default: this process. */
  readonly large?: LargeJobs<WakeJob, NewEvent>
  /** Called after compactions in this process, for metrics; those of large jobs are counted where they run. */
  readonly onPruned?: ((counts: PrunedCounts) => void) | undefined
}

/** The events of compactions that need no summary; the others are published with theirs. */
export function compactedEvents({ threadId, readyStateIds }: Pruned): NewEvent[] {
  return readyStateIds.map((subjectId) => ({ topic: 'thread.compacted', threadId, subjectId }))
}

export async function createPruneWorker(deps: PruneWorkerDeps): Promise<WorkerHandle> {
  const events = new EventLog({
    ...deps,
    append: (projectId, drafts) => storeEvents(deps.store, { projectId, events: drafts }),
    publish: (event) => deps.queues.publish(event),
  })
  const onPruned = (projectId: string, pruned: Pruned) => {
    deps.onPruned?.(pruned.counts)
    for (const event of compactedEvents(pruned)) events.add(projectId, event)
  }
  const worker = await deps.queues.defineWorker({
    ...deps,
    stage: 'prune',
    async handler(job) {
      const { projectId } = job.payload
      const here = (sizeMax?: WorkSize) => prune(job, { ...deps, onPruned, sizeMax })
      const publish = (event: NewEvent) => events.add(projectId, event)
      const outcome = await hereOrElsewhere({ job, large: deps.large, here, publish })
      // After what it changed, whose context would not hold.
      await prepareContexts(deps.store, job.payload, (next) => deps.queues.add('assemble', next))
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
