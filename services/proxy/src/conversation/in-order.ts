/** Works of one key, which run at the same moment and end in the order in which they began. */
export class InOrder {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Resolves, or rejects, as the work does, once those of its key that began earlier have ended. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key)
    const working = work()
    const ended = Promise.allSettled([working, before])
    this.#last.set(key, ended)
    await ended
    if (this.#last.get(key) === ended) this.#last.delete(key)
    return await working
  }
}
