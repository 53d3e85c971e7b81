import type { ServerResponse } from 'node:http'
import type { Access, Permission } from '@heddle/contracts'
import type { NewShare, ShareRequest } from '@heddle/queue'
import type { FastifyRequest } from 'fastify'
import { Refused } from '../http/problems.js'
import { type Admit, checkPermission } from './access.js'
import type { RequestsUnderWay } from './requests-under-way.js'

/** Access and limits that a route requires. */
export interface RouteAccess {
  /** `any`: any known caller; permissions are checked for each part of the request. */
  readonly needs: Permission | 'any'
  /** Whether its requests count against the project's limits. Streams do not: they stay open for days. */
  readonly isCounted: boolean
  /** Stage whose workers do the work; the project's share of that stage applies. */
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
  /** @throws RetryableError `RATE_LIMITED` if the project has used up its share of the stage */
  checkShare(project: string, share: Omit<ShareRequest, 'projectId'>): void
}

/** Admits requests before their bodies are read, so a refused request takes no memory. */
export class Admission {
  readonly #options: AdmissionOptions
  readonly #accesses = new WeakMap<FastifyRequest, Access>()

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /**
   * @param bytesMax largest body that the route accepts
   * @throws Refused with 401 or 403; RetryableError `RATE_LIMITED` above the limits of the project or of the process
   */
  async enter(request: FastifyRequest, bytesMax: number, response: ServerResponse): Promise<void> {
    const { access } = request.routeOptions.config
    const { requests, checkShare } = this.#options
    const bytes = Math.min(Number(request.headers['content-length'] ?? 0), bytesMax)
    // A body without a declared length counts zero bytes for its project, and the maximum for the limit of the process.
    const bodyBytes = request.headers['transfer-encoding'] === undefined ? bytes : bytesMax
    if (access === undefined) return requests.enter({ bytes, bodyBytes }, response)
    const { project } = await this.admit(request, access.needs)
    const { isCounted, stage } = access
    if (stage !== undefined) checkShare(project, { stage, bytes, admitted: requests.ofStage(project, stage) })
    requests.enter({ project: isCounted ? project : undefined, stage, bytes, bodyBytes }, response)
  }

  /** Returns the caller's project and role. @throws Refused with 401 or 403 */
  async admit(request: FastifyRequest, needs: Permission | 'any'): Promise<Access> {
    const access = this.#accesses.get(request) ?? (await this.#options.admit(request.headers))
    this.#accesses.set(request, access)
    if (needs !== 'any') checkPermission(access, needs)
    return access
  }

  /** Whether an admitted request would still be admitted. True while the store is unreachable. */
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
