/** Works of one key, which run at the same moment and are finished in the order in which they began. */
export class InOrder {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Whether a work of a key is not finished. */
  isRunning(key: string): boolean {
    return this.#last.has(key)
  }

  /**
   * Finishes a work once those of its key that began earlier were finished, or have failed.
   *
   * @param finish sees all that earlier ones have changed
   */
  async run<Result, Finished>(
    key: string,
    work: () => Promise<Result>,
    finish: (result: Result) => Finished,
  ): Promise<Finished> {
    const finished = finishAfter(this.#last.get(key), work(), finish)
    this.#last.set(key, finished)
    try {
      return await finished
    } finally {
      if (this.#last.get(key) === finished) this.#last.delete(key)
    }
  }
}

async function finishAfter<Result, Finished>(
  before: Promise<unknown> | undefined,
  working: Promise<Result>,
  finish: (result: Result) => Finished,
): Promise<Finished> {
  await Promise.allSettled([working, before])
  return finish(await working)
}
