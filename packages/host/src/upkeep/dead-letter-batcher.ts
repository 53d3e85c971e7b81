import { isWakeStage } from '@heddle/contracts'
import { NIL_ID } from '@heddle/core'
import { ownersOf } from '@heddle/engine'
import type { DeadLetter } from '@heddle/queue'
import { type Clock, Gatherer, splitUnlessAway } from '@heddle/runtime'
import { insertDeadLetter, markThreadFailed, type Store } from '@heddle/store'

/** Stores dead letters of one project in one transaction. */
export type StoreDeadLetters = (projectId: string | null, letters: readonly DeadLetter[]) => Promise<void>

/** How long dead letters of a project are collected after one was stored. */
const GATHER_MS = 250
/** Dead letters in one transaction: each may hold a job of some megabytes. */
export const BATCH_MAX = 16

/**
 * Stores dead letters of many jobs together, because separate commits would delay the ingestion of messages. A single dead
 * letter is stored at once; those of the next quarter of a second are collected.
 *
 * A batch that the database refuses is halved until the dead letter at fault is alone. While the database is down all fail,
 * and their jobs stay in the queue.
 */
export class DeadLetterBatcher {
  readonly #batches: Gatherer<DeadLetter>

  constructor(store: StoreDeadLetters, clock: Pick<Clock, 'after'>) {
    this.#batches = new Gatherer<DeadLetter>({
      keyOf: ({ projectId }) => projectId ?? '',
      itemsMax: BATCH_MAX,
      restMs: () => GATHER_MS,
      onRefused: splitUnlessAway,
      flush: (letters) => store(letters[0]?.projectId ?? null, letters),
      clock,
    })
  }

  /** Resolves once the dead letter is committed. */
  add(letter: DeadLetter): Promise<void> {
    return this.#batches.add(letter)
  }
}

/** The reconciler skips a thread whose job failed permanently for this time. */
const GIVEN_UP_MS = 300_000

/**
 * Stores permanently failed jobs of one project, and marks their threads as failed, which the reconciler would otherwise wake
 * again and again. Failed ingest and assemble jobs do not mark their thread, because no stage would remove the mark.
 */
export function storeDeadLettersIn(store: Store, clock: Clock): StoreDeadLetters {
  return async (projectId, letters) => {
    await store.inProject(projectId ?? NIL_ID, async (tx) => {
      // In the order in which other transactions lock threads, so that they cannot deadlock.
      const ordered = [...letters].sort((one, other) => (one.threadId ?? '').localeCompare(other.threadId ?? ''))
      await Promise.all(
        ordered.map((letter) => {
          // An ingest job has names of its thread and agent; other jobs have ids.
          const { thread, agent } = ownersOf(letter.payload)
          return insertDeadLetter(tx, { ...letter, threadId: letter.threadId ?? thread, agentId: agent })
        }),
      )
      for (const { threadId, stage, error } of ordered) {
        if (threadId === null || !isWakeStage(stage)) continue
        const mark = { stage, error: `${error.code} ${error.detail}` }
        await markThreadFailed(tx, { threadId, ...mark, retryAtMs: clock.nowMs() + GIVEN_UP_MS })
      }
    })
  }
}
