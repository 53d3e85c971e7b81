import { RetryableError, type StageName } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import type { QueueDepth } from '../base/backend.js'
import { bounds } from '../base/bounds.js'

/** What may wait in a queue. */
export interface QueueLimits {
  jobsMax: number
  /** Bytes of payload, as the server keeps them. */
  bytesMax: number
}

/** What a producer is about to add. */
export interface NewWork {
  jobs: number
  bytes: number
}

export interface QueueCapacityOptions {
  stage: StageName
  limits: QueueLimits
  clock: Clock
  /** Looks at the queue. */
  readDepth(jobsMax: number): Promise<QueueDepth>
}

/**
 * Refuses work while a queue is deep, before any of it is sent: what producers send faster than workers store would fill
 * the server, and a full server stops its consumers too.
 *
 * The queue is looked at from time to time and only while somebody appends; in between, what this process has added is
 * put on top. So one process never goes past a bound by more than one append, and a number of processes by what they
 * add between two looks.
 */
export class QueueCapacity {
  readonly #options: QueueCapacityOptions
  #known: QueueDepth = { jobs: 0, bytes: 0 }
  #knownUntilMs = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined

  constructor(options: QueueCapacityOptions) {
    this.#options = options
  }

  /**
   * Takes the room that some work needs. An empty queue takes anything: what is larger than the bounds would never get in.
   *
   * @throws RetryableError `RATE_LIMITED` with `retryAfter` while there is no room
   */
  async admit(work: NewWork): Promise<void> {
    if (this.#options.clock.monotonicMs() >= this.#knownUntilMs) await this.#look()
    const { stage, limits } = this.#options
    const jobs = this.#known.jobs + work.jobs
    const bytes = this.#known.bytes + work.bytes
    if (this.#known.jobs > 0 && (jobs > limits.jobsMax || bytes > limits.bytesMax)) {
      throw new RetryableError('RATE_LIMITED', `The queue of ${stage} is full`, {
        retryAfter: bounds.busyRetryAfterSeconds,
        hint: 'Send more slowly, or run more workers; `heddle queues` shows what waits. Nothing was put on the queue.',
        facts: { waitingJobs: this.#known.jobs, waitingBytes: Math.round(this.#known.bytes), ...limits },
      })
    }
    this.#known = { jobs, bytes }
  }

  #look(): Promise<void> {
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #read(): Promise<void> {
    const { clock, limits, readDepth } = this.#options
    const startedMs = clock.monotonicMs()
    this.#known = await readDepth(limits.jobsMax)
    const nowMs = clock.monotonicMs()
    this.#knownUntilMs = nowMs + Math.max(bounds.depthKnownMs, (nowMs - startedMs) / bounds.depthLookShareMax)
  }
}
