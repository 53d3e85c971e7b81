import { HeddleError, isWakeStage } from '@heddle/contracts'
import { NIL_ID } from '@heddle/core'
import { ownersOf } from '@heddle/engine'
import type { DeadLetter } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import { insertDeadLetter, markThreadFailed, type Store } from '@heddle/store'

/** Keeps letters of one project, all or none of them. */
export type KeepLetters = (projectId: string | null, letters: readonly DeadLetter[]) => Promise<void>

/** How long letters of a project gather after one was kept. */
const GATHER_MS = 250
/** MessageBatcher in one transaction: each may hold a job of some megabytes. */
export const LETTERS_AT_ONCE_MAX = 16

interface Waiting {
  readonly letter: DeadLetter
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Keeps dead letters of many jobs together: each commit of its own would make those wait who store messages. A lone letter
 * is kept at once; what comes within a quarter of a second after it gathers.
 *
 * MessageBatcher that the database refuses together are tried once more one by one; where it is away, all fail, and their jobs stay.
 */
export class DeadLetterBatcher {
  readonly #keep: KeepLetters
  readonly #clock: Pick<Clock, 'wait'>
  /** The letters of each project that wait; a project is in it while it is worked on. */
  readonly #lines = new Map<string | null, Waiting[]>()

  constructor(keep: KeepLetters, clock: Pick<Clock, 'wait'>) {
    this.#keep = keep
    this.#clock = clock
  }

  /** Resolves once the letter is committed. */
  add(letter: DeadLetter): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { letter, resolve, reject }
      const line = this.#lines.get(letter.projectId)
      if (line !== undefined) {
        line.push(waiting)
        return
      }
      this.#lines.set(letter.projectId, [waiting])
      void this.#work(letter.projectId)
    })
  }

  async #work(projectId: string | null): Promise<void> {
    for (let line = this.#lines.get(projectId); line !== undefined && line.length > 0; ) {
      await this.#keepGroup(projectId, line.splice(0, LETTERS_AT_ONCE_MAX))
      if (line.length < LETTERS_AT_ONCE_MAX) await this.#clock.wait(GATHER_MS)
    }
    this.#lines.delete(projectId)
  }

  async #keepGroup(projectId: string | null, group: readonly Waiting[]): Promise<void> {
    try {
      await this.#keep(
        projectId,
        group.map(({ letter }) => letter),
      )
      for (const { resolve } of group) resolve()
    } catch (error) {
      const isAway = error instanceof HeddleError && error.disposition === 'retry'
      if (group.length === 1 || isAway) for (const { reject } of group) reject(error)
      else for (const waiting of group) await this.#keepGroup(projectId, [waiting])
    }
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
