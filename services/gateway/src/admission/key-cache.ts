import { createHash } from 'node:crypto'
import { type Access, RetryableError } from '@heddle/contracts'
import { type Clock, Limiter } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'

export interface KnownKeysOptions {
  readonly clock: Clock
  /** Looks a key up; null for what is none, or is revoked. */
  read(key: string): Promise<Access | null>
}

/** How long what was looked up holds: as long may a revoked key still work while the store answers. */
export const TRUSTED_MS = 900
/** A key in use is looked up anew from this age on, behind the back of who uses it. */
const FRESH_MS = 300
/** While that takes, what was known holds for so long: a store that is busy must not keep those waiting who are refused. */
const TRUSTED_MS_MAX = 10_000
const REMEMBERED_MAX = 10_000
/** Keys nobody knows yet that are looked up at once. They come from anybody, and each takes a connection for a moment. */
const LOOK_UPS_MAX = 8
/** Those and the ones that wait for a permit: a crowd may come in the same moment. */
const STRANGERS_MAX = 1_000
/** A permit comes within milliseconds, or seconds where hundreds come at once; where the store hangs, callers hear of it. */
export const TURN_MS_MAX = 20_000

interface KnownKey {
  access: Access
  atMs: number
  /** It is being looked up anew. */
  isChecked: boolean
}

/** The keys that were let in lately: who uses one waits for the store once, and not again while it is in use. */
export class KeyCache {
  readonly #options: KnownKeysOptions
  readonly #known = new LRUCache<string, KnownKey>({ max: REMEMBERED_MAX })
  readonly #asked = new Map<string, Promise<Access | null>>()
  readonly #lookUps: Limiter

  constructor(options: KnownKeysOptions) {
    this.#options = options
    const { clock } = options
    this.#lookUps = new Limiter({
      atOnce: LOOK_UPS_MAX,
      deadline: { timeoutMs: TURN_MS_MAX, error: tooMany },
      clock,
    })
  }

  /** @throws RetryableError `RATE_LIMITED` where too many that nobody knows are looked up; whatever `read` throws */
  async read(key: string): Promise<Access | null> {
    // By its hash: what is remembered is of no use to anybody who sees it.
    const name = createHash('sha256').update(key).digest('base64')
    const known = this.#known.get(name)
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : this.#options.clock.monotonicMs() - known.atMs
    if (known === undefined || ageMs >= (known.isChecked ? TRUSTED_MS_MAX : TRUSTED_MS)) {
      this.#known.delete(name)
      return await this.#ask(name, key)
    }
    if (ageMs >= FRESH_MS && !known.isChecked) this.#check(name, key, known)
    return known.access
  }

  /** All who come with the same key meanwhile wait for the same answer. */
  #ask(name: string, key: string): Promise<Access | null> {
    const asked = this.#asked.get(name)
    if (asked !== undefined) return asked
    if (this.#asked.size >= STRANGERS_MAX) throw tooMany()
    const asking = this.#lookUps.run(() => this.#lookUp(name, key)).finally(() => this.#asked.delete(name))
    this.#asked.set(name, asking)
    return asking
  }

  #check(name: string, key: string, known: KnownKey): void {
    known.isChecked = true
    this.#lookUp(name, key).catch(() => {
      // What is wrong with the store is told to who has to wait for it.
      known.isChecked = false
    })
  }

  async #lookUp(name: string, key: string): Promise<Access | null> {
    const atMs = this.#options.clock.monotonicMs()
    const access = await this.#options.read(key)
    if (access === null) this.#known.delete(name)
    else this.#known.set(name, { access, atMs, isChecked: false })
    return access
  }
}

function tooMany(): RetryableError {
  return new RetryableError('RATE_LIMITED', 'too many keys that are not known yet are being looked up', {
    retryAfter: 1,
  })
}
