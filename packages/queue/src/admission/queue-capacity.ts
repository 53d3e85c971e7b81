import { RetryableError, type StageName } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'
import type { QueueDepth } from '../base/backend.js'
import { bounds } from '../base/bounds.js'

/** Limits of the waiting jobs of a queue. */
export interface QueueLimits {
  jobsMax: number
  /** Bytes of payload as stored by the server. */
  bytesMax: number
}

/** Jobs that a producer is about to add. */
export interface NewWork {
  jobs: number
  bytes: number
}

export interface QueueCapacityOptions {
  stage: StageName
  limits: QueueLimits
  clock: Clock
  /** Polls the queue. */
  readDepth(jobsMax: number): Promise<QueueDepth>
}

/**
 * Refuses work while a queue is full, before any of it is sent: producers that send faster than workers store would fill
 * the server, and a full server stops its consumers too.
 *
 * The depth is polled from time to time, and only during appends; the jobs that this process added since are included. So
 * one process exceeds a limit by at most one append, and several processes by the jobs that they add between two polls.
 */
export class QueueCapacity {
  readonly #options: QueueCapacityOptions
  #known: QueueDepth = { jobs: 0, bytes: 0 }
  #knownUntilMs = Number.NEGATIVE_INFINITY
  #polling: Promise<void> | undefined

  constructor(options: QueueCapacityOptions) {
    this.#options = options
  }

  /**
   * Reserves capacity for some work. An empty queue admits work of any size, because work above the limits would otherwise
   * never be admitted.
   *
   * @throws RetryableError `RATE_LIMITED` with `retryAfter` while the queue is full
   */
  async admit(work: NewWork): Promise<void> {
    if (this.#options.clock.monotonicMs() >= this.#knownUntilMs) await this.#poll()
    const { stage, limits } = this.#options
    const jobs = this.#known.jobs + work.jobs
    const bytes = this.#known.bytes + work.bytes
    if (this.#known.jobs > 0 && (jobs > limits.jobsMax || bytes > limits.bytesMax)) {
      throw new RetryableError('RATE_LIMITED', `The queue of ${stage} is full`, {
        retryAfter: bounds.busyRetryAfterSeconds,
        hint: 'Send more slowly, or run more workers; `heddle queues` shows the waiting jobs. Nothing was put on the queue.',
        facts: { waitingJobs: this.#known.jobs, waitingBytes: Math.round(this.#known.bytes), ...limits },
      })
    }
    this.#known = { jobs, bytes }
  }

  #poll(): Promise<void> {
    this.#polling ??= this.#read().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  async #read(): Promise<void> {
    const { clock, limits, readDepth } = this.#options
    const startedMs = clock.monotonicMs()
    this.#known = await readDepth(limits.jobsMax)
    const nowMs = clock.monotonicMs()
    this.#knownUntilMs = nowMs + Math.max(bounds.depthKnownMs, (nowMs - startedMs) / bounds.depthPollShareMax)
  }
}
