import type { PartialSettings } from '@heddle/contracts'
import { type DeadLetter, defineWorker, type Queues, type WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import type { Store } from '@heddle/store'
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
}

export function createPruneWorker(deps: PruneWorkerDeps): Promise<WorkerHandle> {
  return defineWorker({ ...deps, stage: 'prune', handler: (job) => prune(job, deps) })
}
