import { LRUCache } from 'lru-cache'

/** Keys that are remembered: more than the contexts that one process asks for again and again. */
const KEYS_MAX = 10_000

/**
 * The requests whose next contexts are likely to be prepared although they do not say so themselves, since the settings of
 * their agents do: what was answered last tells. Whoever remembers wrongly looks once in vain, or has one built that was
 * there.
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
