import type { PartialSettings } from '@heddle/contracts'
import { type DeadLetter, defineWorker, type Queues, type WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { appendEvents, type Store } from '@heddle/store'
import { assemble } from './handler.js'
import { TokenCounter } from './token-counter.js'

export { type AssembleDeps, assemble } from './handler.js'
export { TokenCounter } from './token-counter.js'

export interface AssembleWorkerDeps {
  readonly store: Store
  readonly queues: Queues
  readonly clock: Clock
  readonly log: Logger
  readonly settings: PartialSettings
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  readonly concurrency?: number
}

export function createAssembleWorker(deps: AssembleWorkerDeps): Promise<WorkerHandle> {
  const counter = new TokenCounter()
  return defineWorker({ ...deps, stage: 'assemble', handler: (job) => assemble(job, { ...deps, counter, tellBuilt }) })

  function tellBuilt(projectId: string, threadId: string, contextId: string): void {
    tell(projectId, threadId, contextId).catch((error: unknown) =>
      deps.log.warn({ error, projectId, contextId }, 'an event was not told'),
    )
  }

  async function tell(projectId: string, threadId: string, contextId: string): Promise<void> {
    const draft = { topic: 'context.built' as const, threadId, subjectId: contextId, headSeq: null }
    const events = await deps.store.inProject(projectId, (tx) => appendEvents(tx, { projectId, events: [draft] }))
    await Promise.all(events.map((event) => deps.queues.publish(event)))
  }
}
