import type { DeadLetter, Queues, WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { type AppendBatch, appendMessages, EventLog, isRepeat, type Store, storeEvents } from '@heddle/store'
import { type Commit, GroupCommit } from './group-commit.js'
import { ingest, stagesAfterIngest } from './handler.js'
import { Preparation, type PreparedAppend } from './prepare.js'
import { Wakes } from './wakes.js'

export { GroupCommit } from './group-commit.js'
export { type IngestDeps, ingest } from './handler.js'

export interface IngestWorkerDeps {
  readonly store: Store
  readonly queues: Queues
  readonly clock: Clock
  readonly log: Logger
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  readonly concurrency?: number
}

/**
 * How long events gather after a large batch of them. Most of its threads go on growing, and only the last head of each is
 * published, so the worker and the database have more time for requests for contexts.
 */
const EVENTS_REST_UNDER_LOAD_MS = 1_000

export async function createIngestWorker(deps: IngestWorkerDeps): Promise<WorkerHandle> {
  const events = new EventLog({
    ...deps,
    append: (projectId, drafts) => storeEvents(deps.store, { projectId, events: drafts }),
    publish: (event) => deps.queues.publish(event),
    restUnderLoadMs: EVENTS_REST_UNDER_LOAD_MS,
  })
  const commits = new GroupCommit(commitWith(deps, events))
  const preparation = new Preparation()
  const wakes = new Wakes({
    ...deps,
    wake: async (threads) => {
      await Promise.all(stagesAfterIngest.map((stage) => deps.queues.wakeMany(stage, threads)))
    },
  })
  const worker = await deps.queues.defineWorker({
    ...deps,
    stage: 'ingest',
    handler: (job) => ingest(job, { commits, preparation, wakes, clock: deps.clock }),
  })
  return {
    ...worker,
    async close(options) {
      await worker.close(options)
      await wakes.close()
      await events.close()
    },
  }
}

/** After a repeat, this many groups look ids up first: a producer that retries mostly retries several appends. */
const CAREFUL_GROUPS = 3

/** Messages of an append from which on it counts as a batch. */
const BATCH_MESSAGES_MIN = 10

/**
 * Commits a group, then adds its events; a failed event loses no message. Messages that come in batches are assumed to be new.
 * After a repeat, the next {@link CAREFUL_GROUPS} groups look ids up first.
 */
function commitWith({ store, clock }: IngestWorkerDeps, events: EventLog): Commit {
  let carefulGroups = 0
  return async (projectId, appends) => {
    const commit = (assumed: Pick<AppendBatch, 'assumeNew' | 'assumeFreeCodes'>) =>
      store.inProject(projectId, (tx) =>
        appendMessages(tx, { projectId, receivedAtMs: clock.nowMs(), appends, ...assumed }),
      )
    const assumeNew = carefulGroups === 0 && isInBatches(appends)
    if (carefulGroups > 0) carefulGroups--
    const outcomes = await commit({ assumeNew, assumeFreeCodes: true }).catch((error: unknown) => {
      if (!isRepeat(error)) throw error
      return commit({})
    })
    if (outcomes.some(({ repeated, error }) => repeated > 0 || error !== null)) carefulGroups = CAREFUL_GROUPS
    for (const { threadId, stored, headSeq } of outcomes) {
      if (stored > 0) events.add(projectId, { topic: 'message.stored', threadId, headSeq })
    }
    return outcomes
  }
}

/** Whether the appends of a group are large. Then they are few, so a repeat makes few other appends commit again. */
function isInBatches(appends: readonly PreparedAppend[]): boolean {
  const messages = appends.reduce((sum, append) => sum + append.messages.length, 0)
  return messages >= appends.length * BATCH_MESSAGES_MIN
}
