import { mergeSettings, type PartialSettings, type WakeJob } from '@heddle/contracts'
import type { Summarizers } from '@heddle/models'
import { done, type Job, type Outcome, refuseLargeJob, skipped, type WorkSize } from '@heddle/queue'
import type { Clock, Logger } from '@heddle/runtime'
import {
  clearThreadFailure,
  extractBatch,
  loadThread,
  type Store,
  stopRemembering,
  type ThreadRow,
} from '@heddle/store'
import { readerOf } from './readers.js'

export interface RememberDeps {
  readonly store: Store
  /** Settings of the file and the environment, under those of agents and threads. */
  readonly settings: PartialSettings
  /** Their models read facts, too. */
  readonly summarizers: Summarizers
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly clock: Pick<Clock, 'nowMs'>
  /** Largest message that is read in this process. Default: unlimited. */
  readonly sizeMax?: WorkSize | undefined
}

/** Batches of one job; a longer backlog continues in the next job, so that other threads are served in between. */
export const BATCHES_PER_JOB_MAX = 10

/**
 * Reads facts from the new messages of people in a thread, up to its head. Facts and cursor change in one transaction, and a
 * fact has the same id whenever it is read, so that a replay adds nothing.
 *
 * The prune stage, which loads the settings anyway, begins and ends the cursor: a thread whose agent did not ask for facts never
 * comes here.
 *
 * @throws LargeJobError if a message is larger than `sizeMax`; earlier batches are kept
 */
export async function remember(job: Job<WakeJob>, deps: RememberDeps): Promise<Outcome> {
  const { projectId, threadId } = job.payload
  const startedAtMs = deps.clock.nowMs()
  const thread = await deps.store.inProject(projectId, (tx) => loadThread(tx, { threadId }))
  if (thread === null) return skipped('the thread is gone')
  const { rememberSeq, headSeq } = thread
  if (rememberSeq === null) return skipped('no facts are read in this thread')
  const settings = mergeSettings(deps.settings, thread.agentSettings, thread.settings)
  if (settings.remember === 'off') {
    await stop(deps.store, projectId, thread)
    return skipped('no facts are read any longer in this thread')
  }
  if (rememberSeq >= headSeq) return skipped('the cursor is at the head')

  const again = [{ wake: 'remember' as const, projectId, threadId }]
  const reader = readerOf(settings, { projectId, threadId, signal: job.signal }, deps)
  let cursor = rememberSeq
  let [factCount, addedCount] = [0, 0]
  for (let batch = 0; batch < BATCHES_PER_JOB_MAX && cursor < headSeq; batch++) {
    job.signal.throwIfAborted()
    const read = await extractBatch(deps.store, {
      ...{ projectId, thread, afterSeq: cursor, isStage: true },
      reader: {
        ...reader,
        read: async (messages) => {
          for (const { tokens } of messages) refuseLargeJob({ messages: 1, tokens }, deps.sizeMax)
          return await reader.read(messages)
        },
      },
    })
    if (read === null) return skipped('another worker moved the cursor, or messages were erased', again)
    cursor = read.toSeq
    factCount += read.facts
    addedCount += read.added
  }
  if (thread.lastError !== null)
    await deps.store.inProject(projectId, (tx) => clearThreadFailure(tx, { threadId, stages: ['remember'] }))
  const counts = { messageCount: cursor - rememberSeq, factCount, addedCount }
  deps.log.info({ threadId, ...counts, tookMs: deps.clock.nowMs() - startedAtMs }, 'facts read')
  return done(cursor < headSeq ? again : [])
}

async function stop(store: Store, projectId: string, thread: ThreadRow): Promise<void> {
  await store.inProject(projectId, async (tx) => {
    await stopRemembering(tx, thread)
    await clearThreadFailure(tx, { threadId: thread.threadId, stages: ['remember'] })
  })
}
