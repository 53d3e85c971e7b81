import type { PartialSettings, WakeJob } from '@heddle/contracts'
import type { Embedder } from '@heddle/models'
import { type DeadLetter, hereOrElsewhere, type LargeJobs, type Queues, type WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { embed } from './handler.js'

export { type EmbedDeps, embed } from './handler.js'

export interface EmbedWorkerDeps {
  readonly store: Store
  readonly queues: Queues
  readonly embedder: Embedder
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
export function createEmbedWorker(deps: EmbedWorkerDeps): Promise<WorkerHandle> {
  const { queues, recordDeadLetter, log, concurrency, large } = deps
  return queues.defineWorker({
    stage: 'embed',
    handler: (job) =>
      hereOrElsewhere({ job, large, here: (sizeMax) => embed(job, { ...deps, sizeMax }), publish: () => {} }),
    recordDeadLetter,
    log,
    concurrency,
  })
}
