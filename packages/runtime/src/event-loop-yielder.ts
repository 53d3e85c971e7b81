/** Work of one turn of the event loop: what comes from sockets, and what is to leave by them, waits so long. */
const TURN_MS = 4

/**
 * Spreads many pieces of work that could begin at once over turns of the event loop, so that what the first of them
 * send is on its way while the others begin.
 */
export class EventLoopYielder {
  readonly #nowMs: () => number
  #endsAtMs = 0
  #isOpen = false
  readonly #waiting: (() => void)[] = []

  /** @param nowMs tells the time, from whatever beginning */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** @returns null where this turn has time left; else what resolves in a later one, in the order of asking */
  next(): Promise<void> | null {
    if (this.#waiting.length === 0) {
      if (!this.#isOpen) this.#open()
      if (this.#nowMs() < this.#endsAtMs) return null
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #open(): void {
    this.#isOpen = true
    this.#endsAtMs = this.#nowMs() + TURN_MS
    setImmediate(() => {
      this.#isOpen = false
      if (this.#waiting.length > 0) void this.#goOn()
    })
  }

  async #goOn(): Promise<void> {
    this.#open()
    do {
      this.#waiting.shift()?.()
      // Whoever was let go on does so before this does.
      await null
    } while (this.#waiting.length > 0 && this.#nowMs() < this.#endsAtMs)
  }
}

/** Carries out a computation that pauses every now and then, and lets others have their turn at its pauses. */
export async function runCooperatively<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  const turns = new EventLoopYielder()
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await turns.next()
  }
}
