import type { PartialSettings } from '@heddle/contracts'
import type { TextEmbedder } from '@heddle/core'
import { createExtractiveSummarizer, fixedSummarizer, type Summarizers } from '@heddle/models'
import { type DeadLetter, defineWorker, type Queues, type WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { appendEvents, type NewEvent, type Store } from '@heddle/store'
import { assemble } from './handler.js'
import { saveSnapshot } from './save-snapshot.js'
import { ThreadTails } from './thread-tails.js'
import { TokenCounter } from './token-counter.js'
import { Turns } from './turns.js'

export { type AssembleDeps, assemble } from './handler.js'
export { ThreadTails } from './thread-tails.js'
export { TokenCounter } from './token-counter.js'

export interface AssembleWorkerDeps {
  readonly store: Store
  readonly queues: Queues
  readonly clock: Clock
  readonly log: Logger
  readonly settings: PartialSettings
  /** Says how near items are to a request. Default none: then contexts are built without selection, and say so. */
  readonly embedder?: TextEmbedder | null
  /** Who writes the summaries of snapshots. Default the extractive summarizer. */
  readonly summarizers?: Summarizers
  /** Where files of snapshots lie. Default none: their rows hold all of them. */
  readonly snapshotsFolder?: string | null
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  readonly concurrency?: number
}

export function createAssembleWorker(deps: AssembleWorkerDeps): Promise<WorkerHandle> {
  const parts = {
    ...deps,
    counter: new TokenCounter(),
    tails: new ThreadTails(),
    summarizers: deps.summarizers ?? fixedSummarizer(createExtractiveSummarizer()),
    snapshotsFolder: deps.snapshotsFolder ?? null,
    snapshotTurns: new Turns(),
    tellBuilt: (projectId: string, threadId: string, contextId: string) =>
      tell(projectId, { topic: 'context.built', threadId, subjectId: contextId }),
    tellSaved: (projectId: string, snapshotId: string) =>
      tell(projectId, { topic: 'snapshot.saved', subjectId: snapshotId }),
  }
  return defineWorker({
    ...deps,
    stage: 'assemble',
    handler: ({ payload, ...job }) =>
      'snapshotId' in payload ? saveSnapshot({ payload, ...job }, parts) : assemble({ payload, ...job }, parts),
  })

  function tell(projectId: string, event: NewEvent): void {
    publish(projectId, event).catch((error: unknown) =>
      deps.log.warn({ error, projectId, subjectId: event.subjectId }, 'an event was not told'),
    )
  }

  async function publish(projectId: string, event: NewEvent): Promise<void> {
    const events = await deps.store.inProject(projectId, (tx) => appendEvents(tx, { projectId, events: [event] }))
    await Promise.all(events.map((one) => deps.queues.publish(one)))
  }
}
