import { LRUCache } from 'lru-cache'

/** Cached keys: more than the contexts that one process requests repeatedly. */
const KEYS_MAX = 10_000

/**
 * Remembers requests whose next contexts are likely to be prepared because of the settings of their agents, as shown by the
 * last answer. A wrong entry costs one unnecessary read, or the build of a context that was already prepared.
 */
export class LikelyPrepared {
  // By size, as in `Ordinals`.
  readonly #keys = new LRUCache<string, true>({ maxSize: KEYS_MAX, sizeCalculation: () => 1 })

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  note(key: string, isLikely: boolean): void {
    if (isLikely) this.#keys.set(key, true)
    else this.#keys.delete(key)
  }
}
