import type { PartialSettings } from '@heddle/contracts'
import type { TextEmbedder } from '@heddle/core'
import { createExtractiveSummarizer, fixedSummarizer, type Summarizers } from '@heddle/models'
import { type DeadLetter, defineWorker, type Queues, type WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { appendEvents, type NewEvent, type Store } from '@heddle/store'
import { ContextMaker } from './context-maker.js'
import { EventLog } from './event-log.js'
import { assemble } from './handler.js'
import { saveSnapshot } from './save-snapshot.js'
import { ThreadTails } from './thread-tails.js'
import { TokenCounter } from './token-counter.js'
import { Turns } from './turns.js'
import { WarmThreads } from './warm-threads.js'
import { within } from './within.js'

export { type AssembleDeps, assemble } from './handler.js'
export { ThreadTails } from './thread-tails.js'
export { TokenCounter } from './token-counter.js'
export { WarmThreads } from './warm-threads.js'

/** So long a worker that closes waits for the last events to be stored. */
const EVENTS_CLOSE_MS = 1_000

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
  const events = new EventLog(tell, deps.clock)
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
      // Events are hints: they do not hold up a worker that closes while the store is away.
      await within(events.close(), { timeoutMs: EVENTS_CLOSE_MS, clock: deps.clock, what: 'storing events' }).catch(
        (error: unknown) => deps.log.warn({ error }, 'events were left behind'),
      )
    },
  }

  async function tell(projectId: string, events: readonly NewEvent[]): Promise<void> {
    await publish(projectId, events).catch((error: unknown) =>
      deps.log.warn({ error, projectId, subjectIds: events.map(({ subjectId }) => subjectId) }, 'events were not told'),
    )
  }

  async function publish(projectId: string, events: readonly NewEvent[]): Promise<void> {
    const appended = await deps.store.inProject(projectId, (tx) => appendEvents(tx, { projectId, events }))
    await Promise.all(appended.map((one) => deps.queues.publish(one)))
  }
}
