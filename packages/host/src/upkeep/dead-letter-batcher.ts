import { isWakeStage } from '@heddle/contracts'
import { NIL_ID } from '@heddle/core'
import { ownersOf } from '@heddle/engine'
import type { DeadLetter } from '@heddle/queue'
import { type Clock, Gatherer, splitUnlessAway } from '@heddle/runtime'
import { insertDeadLetter, markThreadFailed, type Store } from '@heddle/store'

/** Keeps letters of one project, all or none of them. */
export type KeepLetters = (projectId: string | null, letters: readonly DeadLetter[]) => Promise<void>

/** How long letters of a project gather after one was kept. */
const GATHER_MS = 250
/** Letters in one transaction: each may hold a job of some megabytes. */
export const LETTERS_AT_ONCE_MAX = 16

/**
 * Keeps dead letters of many jobs together: each commit of its own would make those wait who store messages. A lone letter
 * is kept at once; what comes within a quarter of a second after it gathers.
 *
 * Letters that the database refuses together are halved until the one at fault is alone; where the database is away, all fail,
 * and their jobs stay in the queue.
 */
export class DeadLetterBatcher {
  readonly #groups: Gatherer<DeadLetter>

  constructor(keep: KeepLetters, clock: Pick<Clock, 'after'>) {
    this.#groups = new Gatherer<DeadLetter>({
      keyOf: ({ projectId }) => projectId ?? '',
      itemsMax: LETTERS_AT_ONCE_MAX,
      restMs: () => GATHER_MS,
      onRefused: splitUnlessAway,
      flush: (letters) => keep(letters[0]?.projectId ?? null, letters),
      clock,
    })
  }

  /** Resolves once the letter is committed. */
  add(letter: DeadLetter): Promise<void> {
    return this.#groups.add(letter)
  }
}

/** The reconciler leaves a thread that a stage gave up on alone for so long. */
const GIVEN_UP_MS = 300_000

/**
 * Keeps jobs of one project that failed for good, and marks the threads that the reconciler would send to their stage again
 * and again. A message or a request that fails says nothing of its thread: no stage would take away the mark that it left.
 */
export function keepLettersIn(store: Store, clock: Clock): KeepLetters {
  return async (projectId, letters) => {
    await store.inProject(projectId ?? NIL_ID, async (tx) => {
      // In the order in which others lock threads.
      const ordered = [...letters].sort((one, other) => (one.threadId ?? '').localeCompare(other.threadId ?? ''))
      await Promise.all(
        ordered.map((letter) => {
          // An ingest job names its thread and its agent, where others have ids.
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
