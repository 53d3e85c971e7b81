import type { PartialSettings } from '@heddle/contracts'
import type { Summarizers } from '@heddle/models'
import { defineWakeWorker, type WakeWorkerDeps, type WorkerHandle } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { remember } from './handler.js'

export { BATCHES_PER_JOB_MAX, type RememberDeps, remember } from './handler.js'

export interface RememberWorkerDeps extends WakeWorkerDeps {
  readonly store: Store
  /** Selects the model of an agent, where facts are read by one. */
  readonly summarizers: Summarizers
  readonly settings: PartialSettings
  readonly clock: Clock
}

/** @throws RetryableError `SERVICE_UNAVAILABLE` if the queue's server is unreachable */
export function createRememberWorker(deps: RememberWorkerDeps): Promise<WorkerHandle> {
  return defineWakeWorker(deps, 'remember', (job, sizeMax) => remember(job, { ...deps, sizeMax }))
}
