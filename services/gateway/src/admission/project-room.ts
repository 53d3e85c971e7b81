import type { ServerResponse } from 'node:http'
import { RetryableError } from '@heddle/contracts'
import { type Clock, systemClock } from '@heddle/runtime'

export interface ProjectRoomLimits {
  /** Requests of one project that are under way at once, while others ask, too. */
  readonly requestsMax: number
  /** While nobody else asks. Default `requestsMax`. */
  readonly requestsAloneMax?: number
  /** Bytes of their bodies. */
  readonly bytesMax: number
}

/**
 * As many as a worker of each stage has under way several times over, and a quarter of the room for all bodies. Who is alone
 * keeps nobody waiting: hundreds of its agents may ask in the same moment.
 */
const LIMITS_DEFAULT: ProjectRoomLimits = { requestsMax: 256, requestsAloneMax: 1_024, bytesMax: 128 * 1024 * 1024 }
/** A project that asked so long ago is nobody's neighbour any more. */
const NEIGHBOUR_MS = 5_000
const RETRY_AFTER_SECONDS = 1

/**
 * What one project may have under way in this process. Without it, a project that asks for more than the workers can do
 * would fill the line in which the requests of all others wait.
 */
export class ProjectRoom {
  readonly #limits: ProjectRoomLimits
  readonly #clock: Clock
  readonly #held = new Map<string, { requests: number; bytes: number }>()
  /** Who asked last, and who did last of all others. */
  #last = { project: '', atMs: Number.NEGATIVE_INFINITY }
  #lastOther = this.#last

  constructor(limits: ProjectRoomLimits = LIMITS_DEFAULT, clock: Clock = systemClock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Projects that have something under way. */
  get size(): number {
    return this.#held.size
  }

  /**
   * Takes room for a request until it is answered. A project that has nothing under way may always ask.
   *
   * @throws RetryableError `RATE_LIMITED` before anything is begun
   */
  take(project: string, bytes: number, response: Pick<ServerResponse, 'once'>): void {
    const held = this.#held.get(project) ?? { requests: 0, bytes: 0 }
    const { bytesMax } = this.#limits
    const requestsMax = this.#requestsMax(project, held.requests > 0)
    if (held.requests > 0 && (held.requests >= requestsMax || held.bytes + bytes > bytesMax)) {
      throw new RetryableError('RATE_LIMITED', 'the project has as much under way as it may', {
        retryAfter: RETRY_AFTER_SECONDS,
        hint: 'Send less at once. Nothing of this request was begun.',
        facts: { requestsUnderWay: held.requests, bytesUnderWay: held.bytes, requestsMax, bytesMax },
      })
    }
    held.requests++
    held.bytes += bytes
    this.#held.set(project, held)
    response.once('close', () => {
      held.requests--
      held.bytes -= bytes
      if (held.requests === 0) this.#held.delete(project)
    })
  }

  #requestsMax(project: string, isHolding: boolean): number {
    const nowMs = this.#clock.monotonicMs()
    if (this.#last.project !== project) this.#lastOther = this.#last
    this.#last = { project, atMs: nowMs }
    const isAlone = this.#held.size === (isHolding ? 1 : 0) && nowMs - this.#lastOther.atMs >= NEIGHBOUR_MS
    const { requestsMax, requestsAloneMax = requestsMax } = this.#limits
    return isAlone ? requestsAloneMax : requestsMax
  }
}
