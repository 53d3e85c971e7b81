import type { PartialSettings, WakeJob } from '@heddle/contracts'
import {
  type DeadLetter,
  hereOrElsewhere,
  type LargeJobs,
  type Queues,
  type WorkerHandle,
  type WorkSize,
} from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { prepareContexts, type Store } from '@heddle/store'
import { prune } from './handler.js'

export { type PruneDeps, prune } from './handler.js'

export interface PruneWorkerDeps {
  readonly store: Store
  readonly queues: Queues
  readonly clock: Clock
  readonly log: Logger
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  readonly settings: PartialSettings
  readonly concurrency?: number
  /** Runs large jobs. Default: this process. */
  readonly large?: LargeJobs<WakeJob, never>
}

export function createPruneWorker(deps: PruneWorkerDeps): Promise<WorkerHandle> {
  return deps.queues.defineWorker({
    ...deps,
    stage: 'prune',
    async handler(job) {
      const here = (sizeMax?: WorkSize) => prune(job, { ...deps, sizeMax })
      const outcome = await hereOrElsewhere({ job, large: deps.large, here, publish: () => {} })
      // After what it changed, whose context would not hold.
      await prepareContexts(deps.store, job.payload, (next) => deps.queues.add('assemble', next))
      return outcome
    },
  })
}
