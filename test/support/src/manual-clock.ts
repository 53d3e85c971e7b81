import type { Clock } from '@heddle/runtime'

interface Timer {
  readonly atMs: number
  resolve(): void
}

/**
 * Iterations of the event loop in which the effects of a timer complete: a batch begins at the end of the iteration in which
 * the previous one ended.
 */
const TURNS = 4

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  readonly #startMs: number
  #nowMs: number
  #jumpedMs = 0
  readonly #timers = new Set<Timer>()

  constructor(startMs = Date.parse('2026-02-12T14:30:00Z')) {
    this.#startMs = startMs
    this.#nowMs = startMs
  }

  nowMs(): number {
    return this.#nowMs + this.#jumpedMs
  }

  /** Far from the wall-clock time, so that code which mixes the two fails in tests. */
  monotonicMs(): number {
    return this.#nowMs - this.#startMs
  }

  /** Sets the wall clock forward or back: no time passes, and no timer fires. */
  jump(ms: number): void {
    this.#jumpedMs += ms
  }

  wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        this.#timers.delete(timer)
        reject(signal?.reason)
      }
      const timer: Timer = {
        atMs: this.#nowMs + ms,
        resolve() {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      this.#timers.add(timer)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  after(ms: number, callback: () => void): () => void {
    const timer: Timer = { atMs: this.#nowMs + ms, resolve: callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Lets time pass and fires timers in the order of their times; their immediate effects are complete when it resolves. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    for (;;) {
      for (let turns = 0; turns < TURNS; turns++) await turn()
      const [next] = [...this.#timers].filter(({ atMs }) => atMs <= endMs).sort((left, right) => left.atMs - right.atMs)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.resolve()
    }
    this.#nowMs = endMs
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
