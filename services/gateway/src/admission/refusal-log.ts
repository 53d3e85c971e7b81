import type { Clock, Logger } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'

/** A refusal and its caller, without anything that the caller wrote. */
export interface RefusalFacts {
  readonly requestId: string
  readonly method: string
  readonly route: string | undefined
  readonly status: number
  readonly code: string
  readonly address: string
}

/** Statuses that depend on the caller and not on the request: unknown key, missing permission, too much load. */
const ofCallers = [401, 403, 429]
const REPEAT_MS = 10_000
/** Callers remembered between refusals. */
const KNOWN_MAX = 1_000

/**
 * Logs refused callers for the operator. A caller that keeps sending is logged at once and then every ten seconds, with the
 * number of refusals in between, so no caller can fill a disk.
 */
export class RefusalLog {
  readonly #log: Logger
  readonly #clock: Clock
  readonly #known = new LRUCache<string, { untilMs: number; leftOut: number }>({ max: KNOWN_MAX })

  constructor(log: Logger, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  write(facts: RefusalFacts): void {
    if (!ofCallers.includes(facts.status)) {
      this.#log.debug(facts, 'request refused')
      return
    }
    const caller = `${facts.status} ${facts.method} ${facts.route} ${facts.address}`
    const known = this.#known.get(caller)
    const nowMs = this.#clock.monotonicMs()
    if (known !== undefined && nowMs < known.untilMs) {
      known.leftOut += 1
      return
    }
    this.#known.set(caller, { untilMs: nowMs + REPEAT_MS, leftOut: 0 })
    const leftOut = known?.leftOut ?? 0
    this.#log.info({ ...facts, ...(leftOut > 0 && { leftOut }) }, 'request refused')
  }
}
