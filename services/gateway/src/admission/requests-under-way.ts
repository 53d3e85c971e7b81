import type { ServerResponse } from 'node:http'
import { RetryableError } from '@heddle/contracts'
import type { NewShare } from '@heddle/queue'
import { type Clock, systemClock } from '@heddle/runtime'

export interface ProjectLimits {
  /** Concurrent requests of one project while other projects send requests, too. */
  readonly requestsMax: number
  /** Concurrent requests while no other project sends any. Default `requestsMax`. */
  readonly requestsAloneMax?: number
  /** Bytes of the bodies of these requests. */
  readonly bytesMax: number
}

/** A request to admit, or a further call of a batch request. */
export interface NewRequest {
  /** The project whose limits apply; undefined if only the body limit of the process applies. */
  readonly project?: string | undefined
  /** The stage whose workers do the work. */
  readonly stage?: NewShare['stage'] | undefined
  /** Length of the body as declared by the headers. */
  readonly bytes: number
  /** Memory that the body may take. */
  readonly bodyBytes: number
}

interface Count {
  requests: number
  bytes: number
  readonly stages: Partial<Record<NewShare['stage'], { readonly jobs: number; readonly bytes: number }>>
}

/**
 * Several times the concurrency of one worker of each stage, and a quarter of the body limit of the process. A project that
 * is alone delays nobody, so hundreds of its agents may send requests at the same moment.
 */
const LIMITS_DEFAULT: ProjectLimits = { requestsMax: 256, requestsAloneMax: 1_024, bytesMax: 128 * 1024 * 1024 }
/** Bytes of all bodies in one process: a few of the largest, or thousands of usual size. */
const BODY_BYTES_MAX = 512 * 1024 * 1024
/** Time after its last request for which a project counts as active. */
const NEIGHBOUR_MS = 5_000
const RETRY_AFTER_SECONDS = 1

/**
 * Counts the requests that this process admitted and has not answered: by project, by stage, and by the bytes of their
 * bodies, which are held in memory as a whole. Without these limits, a project that sends more than the workers can do
 * would fill the queue in which the requests of all projects wait.
 */
export class RequestsUnderWay {
  readonly #limits: ProjectLimits
  readonly #clock: Clock
  readonly #projects = new Map<string, Count>()
  #bodyBytes = 0
  /** The project with the latest request, and the time of the latest request of any other project. */
  #last = { project: '', atMs: Number.NEGATIVE_INFINITY }
  #lastOther = this.#last

  constructor(limits: ProjectLimits = LIMITS_DEFAULT, clock: Clock = systemClock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Number of projects with running requests. */
  get size(): number {
    return this.#projects.size
  }

  /**
   * Requests of a project admitted for a stage. Bodies take long to arrive: without this count, a hundred concurrent requests
   * would all find the project's share free, and be read only to be refused.
   */
  ofStage(project: string, stage: NewShare['stage']): { readonly jobs: number; readonly bytes: number } {
    return this.#projects.get(project)?.stages[stage] ?? { jobs: 0, bytes: 0 }
  }

  /**
   * Counts a request until it is answered. A project without running requests is always admitted.
   *
   * @throws RetryableError `RATE_LIMITED` before any work starts
   */
  enter(request: NewRequest, response: Pick<ServerResponse, 'once'>): void {
    const { project, bytes, bodyBytes } = request
    if (project !== undefined) this.#checkProject(project, bytes)
    if (bodyBytes > 0 && this.#bodyBytes + bodyBytes > BODY_BYTES_MAX) {
      throw new RetryableError(
        'RATE_LIMITED',
        `requests of ${BODY_BYTES_MAX / 1024 / 1024} MiB are being processed already`,
        {
          retryAfter: RETRY_AFTER_SECONDS,
          hint: 'Send fewer or smaller requests at once.',
        },
      )
    }
    this.count(request, response)
  }

  /** Counts a request until it is answered, whatever the limits. */
  count(request: NewRequest, response: Pick<ServerResponse, 'once'>): void {
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
    throw new RetryableError('RATE_LIMITED', 'the project has reached its limit of open requests', {
      retryAfter: RETRY_AFTER_SECONDS,
      hint: 'Send fewer or smaller requests at once. Nothing of this request was processed.',
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
