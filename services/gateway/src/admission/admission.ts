import type { ServerResponse } from 'node:http'
import type { Access, Permission } from '@heddle/contracts'
import type { AskedShare, NewShare } from '@heddle/queue'
import type { FastifyRequest } from 'fastify'
import { Refused } from '../http/problems.js'
import { type Admit, checkPermission } from './access.js'
import type { RequestsUnderWay } from './requests-under-way.js'

/** What a route asks of whoever calls it. */
export interface RouteAccess {
  /** `any`: to be known; what is allowed is decided for each part of the request. */
  readonly needs: Permission | 'any'
  /** Whether its requests count among what the project may have under way; those of streams last for days. */
  readonly isCounted: boolean
  /** Whose workers do what is asked for: a project has a share of them. */
  readonly stage?: NewShare['stage'] | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: RouteAccess
  }
}

export interface AdmissionOptions {
  readonly admit: Admit
  readonly requests: RequestsUnderWay
  /** @throws RetryableError `RATE_LIMITED` where the project has its share of a stage under way */
  checkShare(project: string, share: Omit<AskedShare, 'projectId'>): void
}

/** Lets requests in before anything of their bodies is read: who is refused has taken no memory. */
export class Admission {
  readonly #options: AdmissionOptions
  readonly #accesses = new WeakMap<FastifyRequest, Access>()

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /**
   * @param bytesMax what the route takes of a body
   * @throws Refused with 401 or 403; RetryableError `RATE_LIMITED` where the project, or all together, have too much under way
   */
  async enter(request: FastifyRequest, bytesMax: number, response: ServerResponse): Promise<void> {
    const { access } = request.routeOptions.config
    const { requests, checkShare } = this.#options
    const bytes = Math.min(Number(request.headers['content-length'] ?? 0), bytesMax)
    // A body that does not say its length counts as nothing for its project, and in full in the room for all.
    const bodyBytes = request.headers['transfer-encoding'] === undefined ? bytes : bytesMax
    if (access === undefined) return requests.enter({ bytes, bodyBytes }, response)
    const { project } = await this.admit(request, access.needs)
    const { isCounted, stage } = access
    if (stage !== undefined) checkShare(project, { stage, bytes, letIn: requests.ofStage(project, stage) })
    requests.enter({ project: isCounted ? project : undefined, stage, bytes, bodyBytes }, response)
  }

  /** For whom a request is answered. @throws Refused with 401 or 403 */
  async admit(request: FastifyRequest, needs: Permission | 'any'): Promise<Access> {
    const access = this.#accesses.get(request) ?? (await this.#options.admit(request.headers))
    this.#accesses.set(request, access)
    if (needs !== 'any') checkPermission(access, needs)
    return access
  }

  /** Whether a request that was let in would be so now. Where nobody can say, because the store is away, it would. */
  async admitsStill(request: FastifyRequest, needs: Permission): Promise<boolean> {
    try {
      const access = await this.#options.admit(request.headers)
      checkPermission(access, needs)
      return access.project === this.#accesses.get(request)?.project
    } catch (error) {
      return !(error instanceof Refused)
    }
  }
}
