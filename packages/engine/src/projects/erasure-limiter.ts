/** Erasures of one process that remove rows at once. Each holds a connection most of the time, and the store has ten. */
const AT_ONCE_MAX = 3

/**
 * Lets few erasures of a process remove rows at once, and those of one thing one after the other: they would only wait for
 * each other's lock, each with a connection in its hands that a request could use.
 */
export class ErasureLimiter {
  readonly #underWay = new Set<string>()
  readonly #waiting = new Set<() => void>()

  /** @throws the signal's reason, where it is aborted before the turn has come */
  async take<T>(targetId: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    while (this.#underWay.has(targetId) || this.#underWay.size >= AT_ONCE_MAX) {
      signal?.throwIfAborted()
      await this.#change(signal)
    }
    this.#underWay.add(targetId)
    try {
      return await work()
    } finally {
      this.#underWay.delete(targetId)
      for (const look of [...this.#waiting]) look()
    }
  }

  /** Waits until one has ended, or nobody wants to wait any more. */
  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        this.#waiting.delete(look)
        signal?.removeEventListener('abort', look)
        resolve()
      }
      this.#waiting.add(look)
      signal?.addEventListener('abort', look)
    })
  }
}
