import type { PartialSettings } from '@heddle/contracts'
import type { Embedder } from '@heddle/models'
import { type DeadLetter, defineWorker, type Queues, type WorkerHandle } from '@heddle/queue'
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
}

/** @throws RetryableError `SERVICE_UNAVAILABLE` where the queue's server is away */
export function createEmbedWorker(deps: EmbedWorkerDeps): Promise<WorkerHandle> {
  const { queues, recordDeadLetter, log, concurrency } = deps
  return defineWorker({
    stage: 'embed',
    queues,
    handler: (job) => embed(job, deps),
    recordDeadLetter,
    log,
    ...(concurrency !== undefined && { concurrency }),
  })
}
