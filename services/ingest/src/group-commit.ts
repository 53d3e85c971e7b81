import { Gatherer, splitUnlessAway } from '@heddle/runtime'
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
  readonly projectId: string
  readonly append: PreparedAppend
  outcome: AppendOutcome | undefined
}

/**
 * Commits the appends of many jobs together. While transactions of a project are under way the next appends gather, so
 * the groups grow with the load and a lone append waits for nobody. Appends of one thread keep their order.
 *
 * A group that the database refuses is halved until the append at fault is alone: it must not take the others along. Where
 * the database is away the whole group fails, and its jobs are tried again later.
 */
export class GroupCommit {
  readonly #groups: Gatherer<Waiting>

  constructor(commit: Commit) {
    this.#groups = new Gatherer<Waiting>({
      keyOf: ({ projectId }) => projectId,
      laneOf: ({ append }) => append.thread,
      weights: [
        { of: ({ append }) => append.messages.length, max: GROUP_MESSAGES_MAX },
        { of: ({ append }) => append.characters, max: GROUP_CHARACTERS_MAX },
      ],
      batchesMax: GROUPS_AT_ONCE_MAX,
      anotherFrom: { items: SECOND_GROUP_APPENDS_MIN, weight: SECOND_GROUP_MESSAGES_MIN },
      onRefused: splitUnlessAway,
      async flush(group, projectId) {
        const appends = group.map(({ append }) => append)
        const outcomes = await commit(projectId, appends)
        const byRequest = new Map(outcomes.map((outcome) => [outcome.requestId, outcome]))
        for (const waiting of group) waiting.outcome = byRequest.get(waiting.append.requestId)
      },
    })
  }

  async add(projectId: string, append: PreparedAppend): Promise<AppendOutcome> {
    const waiting: Waiting = { projectId, append, outcome: undefined }
    await this.#groups.add(waiting)
    if (waiting.outcome === undefined) throw new Error(`no outcome for append ${append.requestId}`)
    return waiting.outcome
  }
}
