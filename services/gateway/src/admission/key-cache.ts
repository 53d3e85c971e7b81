import { createHash } from 'node:crypto'
import { type Access, RetryableError } from '@heddle/contracts'
import { type Clock, Limiter } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'

export interface KnownKeysOptions {
  readonly clock: Clock
  /** Looks up a key; null if it is unknown or revoked. */
  read(key: string): Promise<Access | null>
}

/** Lifetime of a cached lookup, and so the longest time a revoked key is accepted while the store answers. */
export const TRUSTED_MS = 900
/** Age from which a key in use is refreshed in the background. */
const FRESH_MS = 300
/** Lifetime of a cached lookup during its refresh, so that a busy store does not delay callers that will be refused anyway. */
const TRUSTED_MS_MAX = 10_000
const REMEMBERED_MAX = 10_000
/** Concurrent lookups of unknown keys. Anybody can send such keys, and each lookup takes a connection. */
const LOOK_UPS_MAX = 8
/** Running and waiting lookups of unknown keys; many clients may connect at the same moment. */
const UNKNOWN_KEYS_MAX = 1_000
/** Longest wait for a permit. Usually milliseconds, seconds for hundreds of keys at once; the limit matters if the store hangs. */
export const PERMIT_MS_MAX = 20_000

interface KnownKey {
  access: Access
  atMs: number
  /** A refresh is running. */
  isChecked: boolean
}

/** Caches recently admitted keys: a caller waits for the store once, and not again while the key is in use. */
export class KeyCache {
  readonly #options: KnownKeysOptions
  readonly #known = new LRUCache<string, KnownKey>({ max: REMEMBERED_MAX })
  readonly #pending = new Map<string, Promise<Access | null>>()
  readonly #lookUps: Limiter

  constructor(options: KnownKeysOptions) {
    this.#options = options
    const { clock } = options
    this.#lookUps = new Limiter({
      atOnce: LOOK_UPS_MAX,
      deadline: { timeoutMs: PERMIT_MS_MAX, error: tooMany },
      clock,
    })
  }

  /** @throws RetryableError `RATE_LIMITED` while too many unknown keys are looked up; whatever `read` throws */
  async read(key: string): Promise<Access | null> {
    // Cached by hash, so a memory dump reveals no keys.
    const name = createHash('sha256').update(key).digest('base64')
    const known = this.#known.get(name)
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : this.#options.clock.monotonicMs() - known.atMs
    if (known === undefined || ageMs >= (known.isChecked ? TRUSTED_MS_MAX : TRUSTED_MS)) {
      this.#known.delete(name)
      return await this.#sharedLookUp(name, key)
    }
    if (ageMs >= FRESH_MS && !known.isChecked) this.#check(name, key, known)
    return known.access
  }

  /** Concurrent callers with the same key share one lookup. */
  #sharedLookUp(name: string, key: string): Promise<Access | null> {
    const pending = this.#pending.get(name)
    if (pending !== undefined) return pending
    if (this.#pending.size >= UNKNOWN_KEYS_MAX) throw tooMany()
    const lookUp = this.#lookUps.run(() => this.#lookUp(name, key)).finally(() => this.#pending.delete(name))
    this.#pending.set(name, lookUp)
    return lookUp
  }

  #check(name: string, key: string, known: KnownKey): void {
    known.isChecked = true
    this.#lookUp(name, key).catch(() => {
      // A failing store is reported to callers that have to wait for it.
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
  return new RetryableError('RATE_LIMITED', 'too many unknown keys are being looked up', {
    retryAfter: 1,
  })
}
