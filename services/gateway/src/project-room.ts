import type { ServerResponse } from 'node:http'
import { RetryableError } from '@heddle/contracts'

export interface ProjectRoomLimits {
  /** Requests of one project that are under way at once. */
  readonly requestsMax: number
  /** Bytes of their bodies. */
  readonly bytesMax: number
}

/** As many as a worker of each stage has under way several times over, and a quarter of the room for all bodies. */
const LIMITS_DEFAULT: ProjectRoomLimits = { requestsMax: 256, bytesMax: 128 * 1024 * 1024 }
const RETRY_AFTER_SECONDS = 1

/**
 * What one project may have under way in this process. Without it, a project that asks for more than the workers can do
 * would fill the line in which the requests of all others wait.
 */
export class ProjectRoom {
  readonly #limits: ProjectRoomLimits
  readonly #held = new Map<string, { requests: number; bytes: number }>()

  constructor(limits: ProjectRoomLimits = LIMITS_DEFAULT) {
    this.#limits = limits
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
    const { requestsMax, bytesMax } = this.#limits
    if (held.requests > 0 && (held.requests >= requestsMax || held.bytes + bytes > bytesMax)) {
      throw new RetryableError('RATE_LIMITED', 'the project has as much under way as it may', {
        retryAfter: RETRY_AFTER_SECONDS,
        hint: 'Send less at once. Nothing of this request was begun.',
        facts: { requestsUnderWay: held.requests, bytesUnderWay: held.bytes, ...this.#limits },
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
}
