import { HeddleError } from '@heddle/contracts'
import type { AppendOutcome } from '@heddle/store'
import type { PreparedAppend } from './prepare.js'

export type Commit = (projectId: string, appends: readonly PreparedAppend[]) => Promise<AppendOutcome[]>

/** Messages in one transaction: large enough that its fixed cost vanishes, small enough that it ends in a fraction of a second. */
export const GROUP_MESSAGES_MAX = 1_000
/** Characters in one transaction, whatever the number of messages: what travels at once must fit into memory many times. */
const GROUP_CHARACTERS_MAX = 16_000_000

/**
 * Transactions of one project under way at once. Two keep both Postgres and this process busy: while one waits for the disk,
 * the other is worked on. Their threads are locked in one order, so they never wait in a circle.
 */
const GROUPS_AT_ONCE_MAX = 2
/** A second group is worth its fixed cost from so many waiting messages on. */
const SECOND_GROUP_MESSAGES_MIN = 500

interface Waiting {
  readonly append: PreparedAppend
  readonly resolve: (outcome: AppendOutcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Commits the appends of many jobs together. While transactions of a project are under way the next appends gather, so
 * the groups grow with the load and a lone append waits for nobody.
 *
 * A group that the database refuses is tried once more append by append: the one at fault must not take the others along.
 * Where the database is away the whole group fails, and its jobs are tried again later.
 */
export class GroupCommit {
  readonly #commit: Commit
  readonly #waiting = new Map<string, Waiting[]>()
  /** Groups under way, by project. */
  readonly #running = new Map<string, number>()
  readonly #scheduled = new Set<string>()

  constructor(commit: Commit) {
    this.#commit = commit
  }

  add(projectId: string, append: PreparedAppend): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(projectId)
      if (waiting) waiting.push({ append, resolve, reject })
      else this.#waiting.set(projectId, [{ append, resolve, reject }])
      // The jobs of one fetch start within one turn of the event loop: they belong into one group.
      if (!this.#scheduled.has(projectId) && this.#isWorthStarting(projectId)) {
        this.#scheduled.add(projectId)
        setImmediate(() => {
          this.#scheduled.delete(projectId)
          void this.#run(projectId)
        })
      }
    })
  }

  #isWorthStarting(projectId: string): boolean {
    const running = this.#running.get(projectId) ?? 0
    if (running === 0) return true
    if (running >= GROUPS_AT_ONCE_MAX) return false
    const messages = (this.#waiting.get(projectId) ?? []).reduce((sum, { append }) => sum + append.messages.length, 0)
    return messages >= SECOND_GROUP_MESSAGES_MIN
  }

  async #run(projectId: string): Promise<void> {
    this.#running.set(projectId, (this.#running.get(projectId) ?? 0) + 1)
    for (let group = this.#next(projectId); group.length > 0; group = this.#next(projectId)) {
      await this.#commitGroup(projectId, group)
    }
    const left = (this.#running.get(projectId) ?? 1) - 1
    if (left === 0) this.#running.delete(projectId)
    else this.#running.set(projectId, left)
  }

  #next(projectId: string): Waiting[] {
    const waiting = this.#waiting.get(projectId) ?? []
    let messages = 0
    let characters = 0
    let size = 0
    for (const { append } of waiting) {
      messages += append.messages.length
      characters += append.characters
      if (size > 0 && (messages > GROUP_MESSAGES_MAX || characters > GROUP_CHARACTERS_MAX)) break
      size++
    }
    const group = waiting.splice(0, size)
    if (waiting.length === 0) this.#waiting.delete(projectId)
    return group
  }

  async #commitGroup(projectId: string, group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#commit(
        projectId,
        group.map(({ append }) => append),
      )
      const byRequest = new Map(outcomes.map((outcome) => [outcome.requestId, outcome]))
      for (const { append, resolve, reject } of group) {
        const outcome = byRequest.get(append.requestId)
        if (outcome) resolve(outcome)
        else reject(new Error(`no outcome for append ${append.requestId}`))
      }
    } catch (error) {
      const isAway = error instanceof HeddleError && error.disposition === 'retry'
      if (group.length === 1 || isAway) for (const { reject } of group) reject(error)
      else for (const waiting of group) await this.#commitGroup(projectId, [waiting])
    }
  }
}
