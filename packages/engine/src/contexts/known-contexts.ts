import type { ContextResult } from '@heddle/contracts'
import { applyPatch, type ContextPatch, type ElementDigests } from '@heddle/core'
import { LRUCache } from 'lru-cache'

/** Bytes of all contexts: about 20 of 32,000 tokens in a language with one byte for a character. */
const BYTES_MAX = 16_000_000
/** Memory of a value besides its text, and of a character: one of two bytes makes all of its text so. */
const VALUE_BYTES = 24
const CHARACTER_BYTES = 2
/** A later turn gets its context whole. */
const AGE_MS_MAX = 600_000
/** How often old contexts are removed, so that each is in memory for eleven minutes at most. */
const PURGE_EVERY_MS = 60_000

interface KnownContextsOptions {
  /** Milliseconds since an arbitrary moment. */
  readonly nowMs?: () => number
  /** Calls back once, if the process still runs. */
  readonly after?: (ms: number, callback: () => void) => void
}

/**
 * Keeps the last context of each request, so that the next one can be sent as its differences. Callers own what they get,
 * so that the kept contexts are copies. The clients of a gateway share one: the keys of requests contain their project.
 */
export class KnownContexts {
  readonly #contexts: LRUCache<string, ContextResult>
  /** By the elements of kept contexts, which later ones take over. */
  readonly #digests: ElementDigests = new WeakMap()
  readonly #after: (ms: number, callback: () => void) => void
  #isPurgeDue = false

  constructor({ nowMs = () => performance.now(), after = afterInBackground }: KnownContextsOptions = {}) {
    this.#after = after
    const perf = { now: nowMs }
    this.#contexts = new LRUCache({ maxSize: BYTES_MAX, ttl: AGE_MS_MAX, ttlResolution: 0, perf })
  }

  /** Estimated memory of the kept contexts. */
  get bytes(): number {
    return this.#contexts.calculatedSize
  }

  /** The last context of a request, by the key of the request. It must not leave this process's client. */
  find(key: string): ContextResult | undefined {
    return this.#contexts.get(key)
  }

  /** @returns the context of a patch, or null if it is not the one that the worker built: then the row has it */
  patched(patch: ContextPatch, base: ContextResult | undefined): ContextResult | null {
    return base === undefined ? null : applyPatch(patch, base, this.#digests)
  }

  /** @returns a copy for the caller */
  keep(key: string, context: ContextResult): ContextResult {
    const copier = new Copier()
    const copy = copier.copyOf(context)
    if (copier.bytes > BYTES_MAX) this.#contexts.delete(key)
    else this.#contexts.set(key, context, { size: copier.bytes })
    this.#purgeLater()
    return copy
  }

  /** The cache itself removes an old entry only when it is looked up. */
  #purgeLater(): void {
    if (this.#isPurgeDue || this.#contexts.size === 0) return
    this.#isPurgeDue = true
    // The timer does not keep the contexts of a client that is no longer in use.
    const own = new WeakRef(this)
    this.#after(PURGE_EVERY_MS, () => {
      const known = own.deref()
      if (known !== undefined) known.#purge()
    })
  }

  #purge(): void {
    this.#isPurgeDue = false
    this.#contexts.purgeStale()
    this.#purgeLater()
  }
}

/** A timer that does not keep the process running. */
function afterInBackground(ms: number, callback: () => void): void {
  setTimeout(callback, ms).unref()
}

/** Copies JSON, and estimates its memory. Texts are shared, because they cannot be changed. */
class Copier {
  bytes = 0

  copyOf<Value>(value: Value): Value {
    this.bytes += VALUE_BYTES
    if (typeof value === 'string') this.bytes += value.length * CHARACTER_BYTES
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((one) => this.copyOf(one)) as Value
    // A copy with own properties for any field name, so that assigning one has no side effects.
    const copy = { ...value } as Record<string, unknown>
    for (const key of Object.keys(copy)) copy[key] = this.copyOf(copy[key])
    return copy as Value
  }
}
