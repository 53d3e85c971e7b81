import type { PartialSettings } from '@heddle/contracts'
import type { Embedder } from '@heddle/models'
import { defineWakeWorker, type WakeWorkerDeps, type WorkerHandle } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { embed } from './handler.js'

export { type EmbedDeps, embed } from './handler.js'

export interface EmbedWorkerDeps extends WakeWorkerDeps {
  readonly store: Store
  readonly embedder: Embedder
  readonly settings: PartialSettings
  readonly clock: Clock
}

/** @throws RetryableError `SERVICE_UNAVAILABLE` if the queue's server is unreachable */
export function createEmbedWorker(deps: EmbedWorkerDeps): Promise<WorkerHandle> {
  return defineWakeWorker(deps, 'embed', (job, sizeMax) => embed(job, { ...deps, sizeMax }))
}
