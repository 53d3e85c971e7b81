import { Gatherer, splitUnlessAway } from '@heddle/runtime'
import type { AppendOutcome } from '../messages/append-plan.js'
import type { PreparedAppend } from './prepare.js'

export type Commit = (projectId: string, appends: readonly PreparedAppend[]) => Promise<AppendOutcome[]>

/** Messages in one transaction: enough to make its fixed cost negligible, and few enough to commit in a fraction of a second. */
export const GROUP_MESSAGES_MAX = 1_000
/** Characters in one transaction, whatever the number of messages: several groups must fit into memory. */
const GROUP_CHARACTERS_MAX = 16_000_000

/**
 * Concurrent transactions of one project. Two keep both Postgres and this process busy: while one waits for the disk, the
 * other is prepared. They never share a thread, so neither waits for the other.
 */
const GROUPS_AT_ONCE_MAX = 2
/** Waiting messages from which a second transaction is worth its fixed cost while another one runs. */
const SECOND_GROUP_MESSAGES_MIN = 500
/** The same for appends of any size: a part of the jobs that a worker holds, so that others arrive meanwhile. */
export const SECOND_GROUP_APPENDS_MIN = 64

interface Waiting {
  readonly projectId: string
  readonly append: PreparedAppend
  outcome: AppendOutcome | undefined
}

/**
 * Commits the appends of many jobs together. Appends gather while transactions of their project are running, so groups grow
 * with the load, and a single append does not wait. Appends of one thread keep their order.
 *
 * A group that the database rejects is halved until the faulty append is alone, so that the others still commit. If the
 * database is unreachable, the whole group fails, and its jobs are retried later.
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
