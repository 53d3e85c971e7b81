/** Keys that are remembered: more than the contexts that one process asks for again and again. */
const KEYS_MAX = 10_000

/**
 * The requests whose next contexts are likely to be prepared although they do not say so themselves, since the settings of
 * their agents do: what was answered last tells. Whoever remembers wrongly looks once in vain, or has one built that was
 * there.
 */
export class LikelyPrepared {
  readonly #keys = new Set<string>()

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  note(key: string, isLikely: boolean): void {
    this.#keys.delete(key)
    if (!isLikely) return
    this.#keys.add(key)
    if (this.#keys.size <= KEYS_MAX) return
    const [oldest = ''] = this.#keys
    this.#keys.delete(oldest)
  }
}
