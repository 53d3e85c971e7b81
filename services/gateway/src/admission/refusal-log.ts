import type { Clock, Logger } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'

/** What was refused to whom, without anything that its caller wrote. */
export interface RefusalFacts {
  readonly requestId: string
  readonly method: string
  readonly route: string | undefined
  readonly status: number
  readonly code: string
  readonly address: string
}

/** Refusals that are about who asks, and not about what: of a key, of its role, of how much it asks. */
const ofCallers = [401, 403, 429]
const REPEAT_MS = 10_000
/** Callers that are known again. */
const KNOWN_MAX = 1_000

/**
 * Tells whoever runs a gateway which callers it refuses. One that goes on asking is told of at once and then each ten seconds, with
 * the number of refusals in between: no caller fills a disk.
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
