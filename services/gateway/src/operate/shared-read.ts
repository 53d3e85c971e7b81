import type { Clock } from '@heddle/runtime'

/** Reads a value once for all callers of a moment, and keeps it for `keptMs`. A failure is not kept. */
export class SharedRead<Value> {
  readonly #keptMs: number
  readonly #clock: Clock
  #running: Promise<Value> | null = null
  #last: { readonly value: Value; readonly untilMs: number } | null = null

  constructor(keptMs: number, clock: Clock) {
    this.#keptMs = keptMs
    this.#clock = clock
  }

  /** @param load called unless a value is kept or being read; its result must not depend on the caller */
  read(load: () => Promise<Value>): Promise<Value> {
    if (this.#last !== null && this.#last.untilMs > this.#clock.monotonicMs()) return Promise.resolve(this.#last.value)
    this.#running ??= this.#load(load).finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #load(load: () => Promise<Value>): Promise<Value> {
    const value = await load()
    this.#last = { value, untilMs: this.#clock.monotonicMs() + this.#keptMs }
    return value
  }
}
