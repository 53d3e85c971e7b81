import type { PartialSettings } from '@heddle/contracts'
import type { TextEmbedder } from '@heddle/core'
import { createExtractiveSummarizer, fixedSummarizer, type Summarizers } from '@heddle/models'
import { type DeadLetter, defineWorker, type Queues, type WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { EventLog, type Store, storeEvents } from '@heddle/store'
import { ContextMaker } from './context-maker.js'
import { assemble } from './handler.js'
import { saveSnapshot } from './save-snapshot.js'
import { ThreadTails } from './thread-tails.js'
import { TokenCounter } from './token-counter.js'
import { Turns } from './turns.js'
import { WarmThreads } from './warm-threads.js'

export { type AssembleDeps, assemble } from './handler.js'
export { ThreadTails } from './thread-tails.js'
export { TokenCounter } from './token-counter.js'
export { WarmThreads } from './warm-threads.js'

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

export async function createAssembleWorker(deps: AssembleWorkerDeps): Promise<WorkerHandle> {
  const events = new EventLog({
    ...deps,
    append: (projectId, drafts) => storeEvents(deps.store, { projectId, events: drafts }),
    publish: (event) => deps.queues.publish(event),
  })
  const parts = {
    ...deps,
    counter: new TokenCounter(),
    tails: new ThreadTails(),
    warm: new WarmThreads(),
    maker: new ContextMaker(),
    summarizers: deps.summarizers ?? fixedSummarizer(createExtractiveSummarizer()),
    snapshotsFolder: deps.snapshotsFolder ?? null,
    snapshotTurns: new Turns(),
    tellBuilt: (projectId: string, threadId: string, contextId: string) =>
      events.add(projectId, { topic: 'context.built', threadId, subjectId: contextId }),
    tellSaved: (projectId: string, snapshotId: string) =>
      events.add(projectId, { topic: 'snapshot.saved', subjectId: snapshotId }),
  }
  // The tokenizer's table takes half as long to load as all else that a first context takes: not in its time.
  parts.counter.count('ready')
  const worker = await defineWorker({
    ...deps,
    stage: 'assemble',
    handler: ({ payload, ...job }) =>
      'snapshotId' in payload ? saveSnapshot({ payload, ...job }, parts) : assemble({ payload, ...job }, parts),
  })
  return {
    ...worker,
    async close(options) {
      await worker.close(options)
      await events.close()
    },
  }
}
