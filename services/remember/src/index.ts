import type { PartialSettings, WakeJob } from '@heddle/contracts'
import type { Summarizers } from '@heddle/models'
import { type DeadLetter, hereOrElsewhere, type LargeJobs, type Queues, type WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { remember } from './handler.js'

export { BATCHES_PER_JOB_MAX, type RememberDeps, remember } from './handler.js'

export interface RememberWorkerDeps {
  readonly store: Store
  readonly queues: Queues
  /** Selects the model of an agent, where facts are read by one. */
  readonly summarizers: Summarizers
  readonly settings: PartialSettings
  readonly clock: Clock
  readonly log: Logger
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  /** Jobs at once; default from the catalog of stages. */
  readonly concurrency?: number
  /** Runs jobs with large messages. Default: this process. */
  readonly large?: LargeJobs<WakeJob, never>
}

/** @throws RetryableError `SERVICE_UNAVAILABLE` if the queue's server is unreachable */
export function createRememberWorker(deps: RememberWorkerDeps): Promise<WorkerHandle> {
  const { queues, recordDeadLetter, log, concurrency, large } = deps
  return queues.defineWorker({
    stage: 'remember',
    handler: (job) =>
      hereOrElsewhere({ job, large, here: (sizeMax) => remember(job, { ...deps, sizeMax }), publish: () => {} }),
    recordDeadLetter,
    log,
    concurrency,
  })
}
