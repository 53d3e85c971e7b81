import { randomUUID } from 'node:crypto'
import { Gatherer } from '@heddle/runtime'
import type { JobJson } from 'bullmq'
import { bounds } from '../base/bounds.js'
import { isServerAway } from '../base/errors.js'

/** A fetched job in BullMQ's form, with the token of its lock. */
export interface TakenJob extends JobJson {
  readonly token: string
}

/** The result of BullMQ's `moveToActive`: the job, its id, an unused delay, and the time of the next retry. */
export type Next = [TakenJob, string, 0, 0] | [null, '', 0, number]

/** A request of a worker's slot: the job that it has finished, and whether it needs another one. */
interface SlotRequest {
  readonly ended: { readonly id: string; readonly token: string } | null
  readonly takes: boolean
  /** Whether jobs for further slots may be fetched, too. */
  readonly prefetches: boolean
  taken: TakenJob | undefined
  isKept: boolean
}

/** The input of one round trip. */
export interface JobExchange {
  /** Finished jobs, each with the token of its lock. */
  readonly ended: readonly { readonly id: string; readonly token: string }[]
  /** Number of jobs to fetch. */
  readonly takes: number
  /** Prefix of the lock tokens of fetched jobs, to which the server adds a number. */
  readonly token: string
  readonly lockMs: number
}

export interface ExchangedJobs {
  /** Finished jobs that were not removed, because their lock was lost or they have a deduplication key: BullMQ handles them. */
  readonly kept: readonly string[]
  /** In the order of the queue. */
  readonly taken: TakenJob[]
  /** When the next retry is due, in milliseconds since 1970, if fewer jobs waited than were requested; 0 for none. */
  readonly nextAtMs: number
}

export interface JobBatchesOptions {
  /** One atomic round trip to the server. */
  exchangeJobs(order: JobExchange): Promise<ExchangedJobs>
  /** Returns a job that was not begun to the queue. */
  release(job: TakenJob): Promise<unknown>
  readonly lockMs: number
  /** Number of the worker's slots. */
  readonly concurrency: number
}

/** The part of its slots for which an idle worker prefetches jobs. */
const PREFETCH_PART = 1 / 16
/** A prefetched job is released after this part of its lock's time, because its lock is not renewed. */
const PREFETCH_LOCK_PART = 1 / 3

/**
 * Fetches and finishes the jobs of one worker's slots, those of one tick in one round trip.
 *
 * The slots of an idle worker request their jobs one after the other; the first request prefetches some for those after it.
 * Jobs that no slot requests are released when the worker closes; after a crash their locks expire.
 */
export class JobBatches {
  readonly #options: JobBatchesOptions
  readonly #requests: Gatherer<SlotRequest>
  #prefetched: { job: TakenJob; untilMs: number }[] = []
  /** Number of prefetched jobs that are reserved for slots that are finishing a job. */
  #reserved = 0
  #isEmpty = false
  #exchanges = 0
  /** Prefix of this worker's lock tokens. */
  readonly #name = randomUUID()
  /** When the next retry is due, in milliseconds since 1970, if no job waited; 0 for none. */
  nextAtMs = 0

  constructor(options: JobBatchesOptions) {
    this.#options = options
    this.#requests = new Gatherer<SlotRequest>({
      itemsMax: bounds.batchJobsMax,
      batchesMax: bounds.exchangesAtOnceMax,
      flush: (requests) => this.#flush(requests),
    })
  }

  /** @returns undefined if no job waits */
  async take(): Promise<TakenJob | undefined> {
    const prefetched = this.#takePrefetched()
    if (prefetched !== undefined) return prefetched
    // The last round trip found the queue empty.
    if (this.#isEmpty) {
      this.#isEmpty = false
      return undefined
    }
    return (await this.#request({ ended: null, takes: true, prefetches: true })).taken
  }

  /** @returns whether the job was removed; if not, BullMQ must finish it */
  async finish(id: string, token: string, takes: boolean): Promise<{ isGone: boolean; taken: TakenJob | undefined }> {
    // Reserved now and taken afterwards, so that a failed round trip does not lose the prefetched job.
    const isReserved = takes && this.#prefetched.length > this.#reserved
    if (isReserved) this.#reserved++
    const requested = this.#request({ ended: { id, token }, takes: takes && !isReserved, prefetches: false })
    const { isKept, taken } = await (isReserved ? requested.finally(() => this.#reserved--) : requested)
    if (isKept && taken !== undefined) this.#keep(taken)
    if (isKept || !takes) return { isGone: !isKept, taken: undefined }
    return { isGone: true, taken: taken ?? this.#takePrefetched() }
  }

  /**
   * Blocks until the server signals new work, then clears the cached "queue is empty" flag. Returns at once while prefetched
   * jobs remain.
   *
   * @returns the server's answer, or BullMQ's marker for a waiting job
   */
  async wait<Marker>(forServer: () => Promise<Marker>): Promise<Marker | { member: '0'; score: 0 }> {
    if (this.#prefetched.length > 0) return { member: '0', score: 0 }
    try {
      return await forServer()
    } finally {
      this.#isEmpty = false
    }
  }

  next(taken: TakenJob | undefined): Next {
    return taken === undefined ? [null, '', 0, this.nextAtMs] : [taken, taken.id, 0, 0]
  }

  async releasePrefetched(): Promise<void> {
    await Promise.allSettled(this.#prefetched.splice(0).map(({ job }) => this.#options.release(job)))
  }

  async #request(wanted: Pick<SlotRequest, 'ended' | 'takes' | 'prefetches'>): Promise<SlotRequest> {
    const { ended, takes, prefetches } = wanted
    const request: SlotRequest = { ended, takes, prefetches, taken: undefined, isKept: false }
    await this.#requests.add(request)
    return request
  }

  async #flush(requests: readonly SlotRequest[]): Promise<void> {
    const takers = requests.filter(({ takes }) => takes)
    try {
      const jobs = await this.#exchangeJobs(requests, this.#amount(requests, takers.length))
      for (const request of takers) request.taken = jobs.shift()
      for (const job of jobs) this.#keep(job)
    } catch (error) {
      if (isServerAway(error) || requests.every(({ ended }) => ended === null)) throw error
      // One job must not fail the others: BullMQ finishes each of them by itself.
      for (const request of requests) request.isKept = request.ended !== null
    }
  }

  /** @returns the number of jobs to fetch */
  #amount(requests: readonly SlotRequest[], takers: number): number {
    const prefetches = requests.some((request) => request.prefetches)
    return Math.max(takers, prefetches ? Math.floor(this.#options.concurrency * PREFETCH_PART) : 0)
  }

  /** @returns the fetched jobs, in the order of the queue */
  async #exchangeJobs(requests: readonly SlotRequest[], takes: number): Promise<TakenJob[]> {
    const { exchangeJobs, lockMs } = this.#options
    const ending = requests.flatMap((request) => (request.ended === null ? [] : { request, ...request.ended }))
    const token = `${this.#name}-${this.#exchanges++}`
    const { kept, taken, nextAtMs } = await exchangeJobs({ ended: ending, takes, token, lockMs })
    const isKept = new Set(kept)
    for (const { request, id } of ending) request.isKept = isKept.has(id)
    // Only a prefetch sets the flag. Without any job it stays false, since then the slot waits for the server anyway.
    if (requests.some(({ prefetches }) => prefetches)) this.#isEmpty = taken.length > 0 && taken.length < takes
    // A full batch means that the server did not check delayed jobs, so the previous value is kept.
    if (taken.length < takes) this.nextAtMs = nextAtMs
    return taken
  }

  #keep(job: TakenJob): void {
    this.#prefetched.push({ job, untilMs: performance.now() + this.#options.lockMs * PREFETCH_LOCK_PART })
  }

  #takePrefetched(): TakenJob | undefined {
    for (let next = this.#prefetched.shift(); next !== undefined; next = this.#prefetched.shift()) {
      if (performance.now() < next.untilMs) return next.job
      // Other workers can fetch it at once. If the release fails, its lock expires.
      void this.#options.release(next.job).catch(() => {})
    }
    return undefined
  }
}
