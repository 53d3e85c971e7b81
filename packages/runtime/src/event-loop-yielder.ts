/** Maximum milliseconds of work per iteration of the event loop by default, during which sockets are not served. */
const TURN_MS = 4

/**
 * Spreads many work items that could begin at once over iterations of the event loop, so that the output of the first
 * is sent while the others begin.
 */
export class EventLoopYielder {
  readonly #nowMs: () => number
  readonly #turnMs: number
  #endsAtMs = 0
  #isOpen = false
  readonly #waiting: (() => void)[] = []

  /**
   * @param nowMs the time, from any origin
   * @param turnMs milliseconds of work per iteration at most
   */
  constructor(nowMs: () => number = () => performance.now(), turnMs = TURN_MS) {
    this.#nowMs = nowMs
    this.#turnMs = turnMs
  }

  /** @returns null if this iteration has time left; else a promise that resolves in a later one, in call order */
  next(): Promise<void> | null {
    if (this.#waiting.length === 0) {
      if (!this.#isOpen) this.#open()
      if (this.#nowMs() < this.#endsAtMs) return null
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #open(): void {
    this.#isOpen = true
    this.#endsAtMs = this.#nowMs() + this.#turnMs
    setImmediate(() => {
      this.#isOpen = false
      if (this.#waiting.length > 0) void this.#goOn()
    })
  }

  async #goOn(): Promise<void> {
    this.#open()
    do {
      this.#waiting.shift()?.()
      // Work that was resumed earlier runs before this.
      await null
    } while (this.#waiting.length > 0 && this.#nowMs() < this.#endsAtMs)
  }
}
