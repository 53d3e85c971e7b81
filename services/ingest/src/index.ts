import { type DeadLetter, defineWorker, type Queues, type WorkerHandle } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import { type AppendOutcome, appendEvents, appendMessages, type Store } from '@heddle/store'
import { type Commit, GroupCommit } from './group-commit.js'
import { ingest } from './handler.js'

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

export function createIngestWorker(deps: IngestWorkerDeps): Promise<WorkerHandle> {
  const commits = new GroupCommit(commitAndTell(deps))
  return defineWorker({
    ...deps,
    stage: 'ingest',
    handler: (job) => ingest(job, { commits, clock: deps.clock }),
  })
}

/** Commits a group, then tells subscribers. Events follow the commit; one that fails to be told costs no message. */
function commitAndTell({ store, queues, clock, log }: IngestWorkerDeps): Commit {
  return async (projectId, appends) => {
    const outcomes = await store.inProject(projectId, (tx) =>
      appendMessages(tx, { projectId, receivedAtMs: clock.nowMs(), appends }),
    )
    await tell(projectId, outcomes).catch((error: unknown) =>
      log.warn({ err: error, projectId }, 'events were not told'),
    )
    return outcomes
  }

  async function tell(projectId: string, outcomes: readonly AppendOutcome[]): Promise<void> {
    const heads = new Map<string, number>()
    for (const { threadId, stored, headSeq } of outcomes) if (stored > 0) heads.set(threadId, headSeq)
    if (heads.size === 0) return
    const drafts = [...heads].map(([threadId, headSeq]) => ({
      topic: 'message.stored' as const,
      threadId,
      subjectId: null,
      headSeq,
    }))
    const events = await store.inProject(projectId, (tx) => appendEvents(tx, { projectId, events: drafts }))
    await Promise.all(events.map((event) => queues.publish(event)))
  }
}
