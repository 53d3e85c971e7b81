import { stagesAfterIngest } from '@heddle/contracts'
import { type DeadLetter, type Queues, Wakes, type WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { AppendCommits, type Store } from '@heddle/store'
import { ingest } from './handler.js'

export { type IngestDeps, ingest } from './handler.js'

export interface IngestWorkerDeps {
  readonly store: Store
  readonly queues: Queues
  readonly clock: Clock
  readonly log: Logger
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  readonly concurrency?: number
}

export async function createIngestWorker(deps: IngestWorkerDeps): Promise<WorkerHandle> {
  const { queues } = deps
  const commits = new AppendCommits({ ...deps, publish: (event) => queues.publish(event) })
  const wakes = new Wakes({
    ...deps,
    wake: async (threads) => {
      await Promise.all(stagesAfterIngest.map((stage) => queues.wakeMany(stage, threads)))
    },
  })
  const worker = await queues.defineWorker({
    ...deps,
    stage: 'ingest',
    handler: (job) => ingest(job, { commits, wakes }),
  })
  return {
    ...worker,
    async close(options) {
      await worker.close(options)
      await wakes.close()
      await commits.close()
    },
  }
}
