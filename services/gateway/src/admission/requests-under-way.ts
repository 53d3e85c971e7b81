import type { ServerResponse } from 'node:http'
import { RetryableError } from '@heddle/contracts'
import type { NewShare } from '@heddle/queue'
import { type Clock, systemClock } from '@heddle/runtime'

export interface ProjectLimits {
  /** Requests of one project that are under way at once, while others ask, too. */
  readonly requestsMax: number
  /** While no other project asks. Default `requestsMax`. */
  readonly requestsAloneMax?: number
  /** Bytes of their bodies. */
  readonly bytesMax: number
}

/** What is let in: a request, or one more call of a request that brings several. */
export interface NewRequest {
  /** The project whose limits it counts against; undefined for a request that counts against the room for all bodies alone. */
  readonly project?: string | undefined
  /** The stage whose workers do what is asked for. */
  readonly stage?: NewShare['stage'] | undefined
  /** Of its body, as its head says. */
  readonly bytes: number
  /** What its body may take in memory. */
  readonly bodyBytes: number
}

interface Count {
  requests: number
  bytes: number
  readonly stages: Partial<Record<NewShare['stage'], { readonly jobs: number; readonly bytes: number }>>
}

/**
 * As many as a worker of each stage has under way several times over, and a quarter of the room for all bodies. A project that
 * is alone keeps nobody waiting: hundreds of its agents may ask in the same moment.
 */
const LIMITS_DEFAULT: ProjectLimits = { requestsMax: 256, requestsAloneMax: 1_024, bytesMax: 128 * 1024 * 1024 }
/** Bytes of the bodies that one process holds at once: some of the largest, or thousands of usual ones. */
const BODY_BYTES_MAX = 512 * 1024 * 1024
/** A project that asked so long ago is nobody's neighbour any more. */
const NEIGHBOUR_MS = 5_000
const RETRY_AFTER_SECONDS = 1

/**
 * Counts the requests that this process has let in and not answered yet: by project, by the stage that does their work, and
 * by the bytes of their bodies, each of which stands in memory as a whole. Without it, a project that asks for more than the
 * workers can do would fill the line in which the requests of all others wait.
 */
export class RequestsUnderWay {
  readonly #limits: ProjectLimits
  readonly #clock: Clock
  readonly #projects = new Map<string, Count>()
  #bodyBytes = 0
  /** The project that asked last, and the last one of all others. */
  #last = { project: '', atMs: Number.NEGATIVE_INFINITY }
  #lastOther = this.#last

  constructor(limits: ProjectLimits = LIMITS_DEFAULT, clock: Clock = systemClock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Projects that have something under way. */
  get size(): number {
    return this.#projects.size
  }

  /**
   * What a project was let in with for a stage. Bodies take long to arrive and to be read: of a hundred that come together all
   * would find the share of their project free, and be read only to be refused.
   */
  ofStage(project: string, stage: NewShare['stage']): { readonly jobs: number; readonly bytes: number } {
    return this.#projects.get(project)?.stages[stage] ?? { jobs: 0, bytes: 0 }
  }

  /**
   * Counts a request until it is answered. A project that has nothing under way may always ask.
   *
   * @throws RetryableError `RATE_LIMITED` before anything is begun
   */
  enter(request: NewRequest, response: Pick<ServerResponse, 'once'>): void {
    const { project, bytes, bodyBytes } = request
    if (project !== undefined) this.#checkProject(project, bytes)
    if (bodyBytes > 0 && this.#bodyBytes + bodyBytes > BODY_BYTES_MAX) {
      throw new RetryableError(
        'RATE_LIMITED',
        `requests of ${BODY_BYTES_MAX / 1024 / 1024} MiB are under way already`,
        {
          retryAfter: RETRY_AFTER_SECONDS,
          hint: 'Send less at once.',
        },
      )
    }
    this.#count(request, 1)
    response.once('close', () => this.#count(request, -1))
  }

  #count({ project, stage, bytes, bodyBytes }: NewRequest, sign: 1 | -1): void {
    this.#bodyBytes += sign * bodyBytes
    if (project === undefined) return
    const count = this.#projects.get(project) ?? { requests: 0, bytes: 0, stages: {} }
    this.#projects.set(project, count)
    count.requests += sign
    count.bytes += sign * bytes
    if (count.requests === 0) this.#projects.delete(project)
    if (stage === undefined) return
    const before = count.stages[stage] ?? { jobs: 0, bytes: 0 }
    count.stages[stage] = { jobs: before.jobs + sign, bytes: before.bytes + sign * bytes }
  }

  #checkProject(project: string, bytes: number): void {
    const count = this.#projects.get(project)
    const requestsMax = this.#requestsMax(project, count !== undefined)
    const { bytesMax } = this.#limits
    if (count === undefined || (count.requests < requestsMax && count.bytes + bytes <= bytesMax)) return
    throw new RetryableError('RATE_LIMITED', 'the project has as much under way as it may', {
      retryAfter: RETRY_AFTER_SECONDS,
      hint: 'Send less at once. Nothing of this request was begun.',
      facts: { requestsUnderWay: count.requests, bytesUnderWay: count.bytes, requestsMax, bytesMax },
    })
  }

  #requestsMax(project: string, isHolding: boolean): number {
    const nowMs = this.#clock.monotonicMs()
    if (this.#last.project !== project) this.#lastOther = this.#last
    this.#last = { project, atMs: nowMs }
    const isAlone = this.#projects.size === (isHolding ? 1 : 0) && nowMs - this.#lastOther.atMs >= NEIGHBOUR_MS
    const { requestsMax, requestsAloneMax = requestsMax } = this.#limits
    return isAlone ? requestsAloneMax : requestsMax
  }
}
