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
 * the other is worked on. They never hold the same thread, so neither waits for the other.
 */
const GROUPS_AT_ONCE_MAX = 2
/** Beside a group under way, another is worth its fixed cost from so many waiting messages on. */
const SECOND_GROUP_MESSAGES_MIN = 500
/** Likewise from so many appends, however small: a part of the jobs that a worker holds, so that others come meanwhile. */
export const SECOND_GROUP_APPENDS_MIN = 64

interface Waiting {
  readonly append: PreparedAppend
  readonly resolve: (outcome: AppendOutcome) => void
  readonly reject: (error: unknown) => void
}

/** The appends of one project. */
interface Line {
  waiting: Waiting[]
  /** Names of the threads in the groups under way. */
  readonly threadsAtWork: Set<string>
  groupsAtWork: number
  isScheduled: boolean
}

/**
 * Commits the appends of many jobs together. While transactions of a project are under way the next appends gather, so
 * the groups grow with the load and a lone append waits for nobody. Appends of one thread keep their order.
 *
 * A group that the database refuses is tried once more append by append: the one at fault must not take the others along.
 * Where the database is away the whole group fails, and its jobs are tried again later.
 */
export class GroupCommit {
  readonly #commit: Commit
  readonly #lines = new Map<string, Line>()

  constructor(commit: Commit) {
    this.#commit = commit
  }

  add(projectId: string, append: PreparedAppend): Promise<AppendOutcome> {
    const line = this.#lineOf(projectId)
    return new Promise((resolve, reject) => {
      line.waiting.push({ append, resolve, reject })
      this.#schedule(projectId, line)
    })
  }

  #lineOf(projectId: string): Line {
    const found = this.#lines.get(projectId)
    if (found) return found
    const line: Line = { waiting: [], threadsAtWork: new Set(), groupsAtWork: 0, isScheduled: false }
    this.#lines.set(projectId, line)
    return line
  }

  /** The jobs of one fetch start within one turn of the event loop: they belong into one group. */
  #schedule(projectId: string, line: Line): void {
    if (line.isScheduled || !isWorthStarting(line)) return
    line.isScheduled = true
    setImmediate(() => {
      line.isScheduled = false
      void this.#run(projectId, line)
    })
  }

  async #run(projectId: string, line: Line): Promise<void> {
    for (let group = takeGroup(line); group.length > 0; group = isWorthStarting(line) ? takeGroup(line) : []) {
      line.groupsAtWork++
      const threads = new Set(group.map(({ append }) => append.thread))
      for (const thread of threads) line.threadsAtWork.add(thread)
      // What this group leaves may be enough for another beside it.
      this.#schedule(projectId, line)
      await this.#commitGroup(projectId, group)
      for (const thread of threads) line.threadsAtWork.delete(thread)
      line.groupsAtWork--
    }
    if (line.groupsAtWork === 0 && line.waiting.length === 0 && !line.isScheduled) this.#lines.delete(projectId)
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

function isWorthStarting({ waiting, threadsAtWork, groupsAtWork }: Line): boolean {
  if (groupsAtWork === 0) return true
  if (groupsAtWork >= GROUPS_AT_ONCE_MAX) return false
  let messages = 0
  let appends = 0
  for (const { append } of waiting) {
    if (threadsAtWork.has(append.thread)) continue
    messages += append.messages.length
    appends++
    if (messages >= SECOND_GROUP_MESSAGES_MIN || appends >= SECOND_GROUP_APPENDS_MIN) return true
  }
  return false
}

/** The first appends in the line whose threads nobody is at work on, as many as a transaction may hold. */
function takeGroup(line: Line): Waiting[] {
  const group = new Set<Waiting>()
  let messages = 0
  let characters = 0
  for (const waiting of line.waiting) {
    const { append } = waiting
    if (line.threadsAtWork.has(append.thread)) continue
    messages += append.messages.length
    characters += append.characters
    if (group.size > 0 && (messages > GROUP_MESSAGES_MAX || characters > GROUP_CHARACTERS_MAX)) break
    group.add(waiting)
  }
  line.waiting = line.waiting.filter((waiting) => !group.has(waiting))
  return [...group]
}
