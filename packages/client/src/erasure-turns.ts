/** Erasures of one process that remove rows at once. Each holds a connection most of the time, and the store has ten. */
const AT_ONCE_MAX = 3

/**
 * Lets few erasures of a process remove rows at once, and those of one thing one after the other: they would only wait for
 * each other's lock, each with a connection in its hands that a request could use.
 */
export class ErasureTurns {
  readonly #underWay = new Set<string>()
  #waiting: (() => void)[] = []

  async take<T>(targetId: string, work: () => Promise<T>): Promise<T> {
    while (this.#underWay.has(targetId) || this.#underWay.size >= AT_ONCE_MAX) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#underWay.add(targetId)
    try {
      return await work()
    } finally {
      this.#underWay.delete(targetId)
      for (const look of this.#waiting.splice(0)) look()
    }
  }
}
