import type { Append, AppendOutcome } from '@heddle/store'

export type Commit = (projectId: string, appends: readonly Append[]) => Promise<AppendOutcome[]>

/** Messages in one transaction: large enough that its fixed cost vanishes, small enough that it ends in a fraction of a second. */
export const GROUP_MESSAGES_MAX = 2_000

interface Waiting {
  readonly append: Append
  readonly resolve: (outcome: AppendOutcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Commits the appends of many jobs together. While one transaction of a project is under way the next appends gather, so
 * the groups grow with the load and a lone append waits for nobody.
 *
 * A group that fails is tried once more append by append: one that the database refuses must not take the others along.
 */
export class GroupCommit {
  readonly #commit: Commit
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #running = new Set<string>()

  constructor(commit: Commit) {
    this.#commit = commit
  }

  add(projectId: string, append: Append): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(projectId)
      if (waiting) waiting.push({ append, resolve, reject })
      else this.#waiting.set(projectId, [{ append, resolve, reject }])
      if (this.#running.has(projectId)) return
      this.#running.add(projectId)
      // The jobs of one fetch start within one turn of the event loop: they belong into one group.
      setImmediate(() => void this.#run(projectId))
    })
  }

  async #run(projectId: string): Promise<void> {
    for (let group = this.#next(projectId); group.length > 0; group = this.#next(projectId)) {
      await this.#commitGroup(projectId, group)
    }
    this.#running.delete(projectId)
  }

  #next(projectId: string): Waiting[] {
    const waiting = this.#waiting.get(projectId) ?? []
    let messages = 0
    let size = 0
    for (; size < waiting.length && (size === 0 || messages < GROUP_MESSAGES_MAX); size++) {
      messages += waiting[size]?.append.messages.length ?? 0
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
      if (group.length === 1) group[0]?.reject(error)
      else for (const waiting of group) await this.#commitGroup(projectId, [waiting])
    }
  }
}
