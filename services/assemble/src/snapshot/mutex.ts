/** Lets work through one after the other, in the order of asking. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  next<T>(work: () => Promise<T>): Promise<T> {
    const own = this.#last.then(work, work)
    this.#last = own
    return own
  }
}
