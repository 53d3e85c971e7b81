import { isWorthRetrying, type RetryPolicy } from '@heddle/client/calls'
import {
  errorFromData,
  type IngestJob,
  stagesAfterIngest,
  stagesAfterIterations,
  type WakeStageName,
} from '@heddle/contracts'
import { LaterWakes, type Queues, type TracedWake, Wakes } from '@heddle/queue'
import { type Clock, type Logger, traced, untilStopped, within } from '@heddle/runtime'
import { AppendCommits, type Store } from '@heddle/store'
import type { OutgoingJob } from './split-append.js'

export interface DirectAppendsOptions {
  readonly store: Store
  readonly queues: Pick<Queues, 'wakeMany' | 'publish'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn' | 'debug'>
}

/** The messages of an append that is committed here, and those of them that were new. */
export interface DirectOutcome {
  readonly stored: number
}

/**
 * Appends under way in this process, whichever way they take, up to which one is committed here. More are load, not one caller
 * who waits: workers commit them in larger groups, behind other processes, and the queue bounds them. With one direct append at
 * a time beside forty through the queue, a gateway and its workers did 175 calls a second instead of 240.
 */
const APPENDS_MAX = 2
/** Characters of JSON of one append. A larger one would occupy the event loop of a gateway; workers have threads and time. */
const JSON_CHARACTERS_MAX = 256_000
/**
 * How long a caller waits for the commit before the append also goes through the queue, in milliseconds: the thread may be
 * locked by an erasure, or the pool may be busy. Whichever comes second finds the messages stored.
 */
const PATIENCE_MS = 1_000

/**
 * Commits the appends of callers that wait until their messages are stored, without a queue between: the transaction of the
 * ingest stage, run by the process of the caller. It wakes the same stages and publishes the same events. Where a process
 * dies between the commit and the wake, the reconciler wakes the stages.
 *
 * See docs/decisions/2026-11-24-a-waiting-caller-commits.md for what a queue between would cost.
 */
export class DirectAppends {
  readonly #options: DirectAppendsOptions
  readonly #commits: AppendCommits
  readonly #wakes: Wakes
  readonly #later: LaterWakes
  #underWay = 0
  #isClosed = false

  constructor(options: DirectAppendsOptions) {
    const { queues } = options
    this.#options = options
    this.#commits = new AppendCommits({ ...options, publish: (event) => queues.publish(event) })
    this.#wakes = new Wakes({ ...options, wake: (threads) => this.#wake(threads) })
    this.#later = new LaterWakes({ ...options, wake: (thread, due) => this.#wakeNow(thread, due) })
  }

  /** Whether few enough appends are under way for {@link store}. */
  get hasRoom(): boolean {
    return !this.#isClosed && this.#underWay <= APPENDS_MAX
  }

  /** Counts an append as under way, also while it is in the queue. @returns ends it */
  begin(): () => void {
    this.#underWay++
    return () => this.#underWay--
  }

  /**
   * Stores an append, unless it is large or this process has more of them under way.
   *
   * @returns null if it has to go through the queue: nothing was stored, or it is not known yet whether it was
   * @throws ConflictError if an id is used by another message; PermanentError if the append is refused
   */
  async store(
    { job, bytes }: OutgoingJob,
    { endsAtMs, signal }: Omit<RetryPolicy, 'clock'>,
  ): Promise<DirectOutcome | null> {
    const { clock, log } = this.#options
    const { requestId } = job
    if (bytes > JSON_CHARACTERS_MAX || !this.hasRoom) return null
    const storing = this.#store(job)
    const timeoutMs = Math.max(1, Math.min(PATIENCE_MS, endsAtMs - clock.monotonicMs()))
    const late = () => {
      log.debug({ requestId }, 'an append takes long to commit and goes through the queue as well')
      return null
    }
    try {
      const stored = within(storing, { timeoutMs, late, clock })
      return await (signal === undefined ? stored : untilStopped(signal, stored))
    } catch (error) {
      if (signal?.aborted === true || !isWorthRetrying(error)) throw error
      log.debug({ error, requestId }, 'an append could not be committed and goes through the queue')
      return null
    }
  }

  /**
   * Keeps the stages that the last append of the thread would wake waiting while a context of it is built, for at most a
   * second: they would compete with it.
   *
   * @returns ends it
   */
  holdStages(threadId: string): () => void {
    return this.#later.hold(threadId)
  }

  /** Wakes the stages of the last appends and publishes their events; to be called before the queues and the store close. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#later.close()
    await this.#wakes.close()
    await this.#commits.close()
  }

  async #store(job: IngestJob): Promise<DirectOutcome> {
    const { projectId } = job
    const commit = { attributes: { 'heddle.messages': job.messages.length } }
    const { error, threadId, stored } = await traced('commit messages', commit, () => this.#commits.add(job))
    if (error !== null) throw errorFromData(error)
    const thread = { projectId, threadId }
    // A repeat always wakes the stages: the process that stored the messages may have died before it did.
    const woken = stored === 0 ? thread : this.#wakes.due(thread, stored)
    const hasIterations = job.messages.some(({ iteration }) => iteration !== undefined)
    const due = [...(woken === null ? [] : stagesAfterIngest), ...(hasIterations ? stagesAfterIterations : [])]
    if (due.length > 0) this.#later.add(woken ?? thread, due)
    return { stored }
  }

  #wakeNow(thread: TracedWake, due: readonly WakeStageName[]): void {
    this.#wake([thread], due).catch((error: unknown) =>
      this.#options.log.warn({ error, threadId: thread.threadId }, 'a thread was not woken; the reconciler will'),
    )
  }

  async #wake(threads: readonly TracedWake[], due: readonly WakeStageName[] = stagesAfterIngest): Promise<void> {
    await Promise.all(due.map((stage) => this.#options.queues.wakeMany(stage, threads)))
  }
}
