import type { HeddleEvent, IngestJob } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import { EventLog } from '../events/event-log.js'
import { storeEvents } from '../events/events.js'
import { type AppendBatch, appendMessages, isRepeat } from '../messages/append-messages.js'
import type { AppendOutcome } from '../messages/append-plan.js'
import type { Store } from '../store.js'
import { GroupCommit } from './group-commit.js'
import { Preparation, type PreparedAppend } from './prepare.js'

export interface AppendCommitsOptions {
  readonly store: Store
  /** Sends a stored event to subscribers. */
  readonly publish: (event: HeddleEvent) => Promise<void>
  readonly clock: Clock
  readonly log: { warn(fields: object, message: string): void }
}

/**
 * How long events gather after a large batch of them. Most of its threads go on growing, and only the last head of each is
 * published, so the worker and the database have more time for requests for contexts.
 */
const EVENTS_REST_UNDER_LOAD_MS = 1_000
/** After a repeat, this many groups look ids up first: a producer that retries mostly retries several appends. */
const CAREFUL_GROUPS = 3
/** Messages of an append from which on it counts as a batch. */
const BATCH_MESSAGES_MIN = 10

/**
 * Stores the appends of one process: prepares their messages, commits many appends together, and publishes an event for
 * each thread that grew. A failed event loses no message.
 *
 * Messages that come in batches are assumed to be new. After a repeat, the next {@link CAREFUL_GROUPS} groups look ids up
 * first.
 */
export class AppendCommits {
  readonly #options: AppendCommitsOptions
  readonly #groups: GroupCommit
  readonly #preparation = new Preparation()
  readonly #events: EventLog
  #carefulGroups = 0

  constructor(options: AppendCommitsOptions) {
    const { store, publish, clock, log } = options
    this.#options = options
    this.#groups = new GroupCommit((projectId, appends) => this.#commit(projectId, appends))
    this.#events = new EventLog({
      append: (projectId, events) => storeEvents(store, { projectId, events }),
      publish,
      restUnderLoadMs: EVENTS_REST_UNDER_LOAD_MS,
      clock,
      log,
    })
  }

  /**
   * Appends that are added within one tick commit together, except those with large messages, which are prepared first.
   *
   * @returns the outcome, with the error of an append that is refused
   * @throws RetryableError where the database is away
   */
  add(job: IngestJob): Promise<AppendOutcome> {
    const prepared = this.#preparation.prepare(job)
    if (prepared instanceof Promise) return prepared.then((append) => this.#groups.add(job.projectId, append))
    return this.#groups.add(job.projectId, prepared)
  }

  /** Stores and publishes the gathered events. To be called before the store and the queues close. */
  async close(): Promise<void> {
    await this.#events.close()
  }

  async #commit(projectId: string, appends: readonly PreparedAppend[]): Promise<AppendOutcome[]> {
    const { store } = this.#options
    const commit = (assumed: Pick<AppendBatch, 'assumeNew' | 'assumeFreeCodes'>) =>
      store.inProject(projectId, (tx) => appendMessages(tx, { projectId, appends, isLast: true, ...assumed }), {
        arePlansKept: true,
      })
    const assumeNew = this.#carefulGroups === 0 && isInBatches(appends)
    if (this.#carefulGroups > 0) this.#carefulGroups--
    const outcomes = await commit({ assumeNew, assumeFreeCodes: true }).catch((error: unknown) => {
      if (!isRepeat(error)) throw error
      return commit({})
    })
    if (outcomes.some(({ repeated, error }) => repeated > 0 || error !== null)) this.#carefulGroups = CAREFUL_GROUPS
    for (const { threadId, stored, headSeq } of outcomes) {
      if (stored > 0) this.#events.add(projectId, { topic: 'message.stored', threadId, headSeq })
    }
    return outcomes
  }
}

/** Whether the appends of a group are large. Then they are few, so a repeat makes few other appends commit again. */
function isInBatches(appends: readonly PreparedAppend[]): boolean {
  const messages = appends.reduce((sum, append) => sum + append.messages.length, 0)
  return messages >= appends.length * BATCH_MESSAGES_MIN
}
