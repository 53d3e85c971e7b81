import { EventLoopYielder } from './event-loop-yielder.js'

/**
 * Milliseconds of an iteration of the event loop for all computations together: as many as its other work took, so that they
 * have half of a busy loop, and within these bounds. A request waits for several iterations, one at each of its round trips.
 */
const SHARE_MS = { min: 1, max: 4 }
/** A computation continues for this long before another one: to change after each step would favour those with long steps. */
const SLICE_MS = 0.25

interface Computation {
  /** Runs it for a slice. @returns whether it has ended */
  advance(): boolean
  /** The time that it has had, plus that of the others when it was added. */
  usedMs: number
}

/**
 * Runs computations that yield regularly in the time that they share in each iteration of the event loop. The one that has
 * had the least time is next, whatever the length of its steps.
 */
export class Computations {
  readonly #nowMs: () => number
  readonly #waiting: Computation[] = []
  /** Until when computations may run in this iteration. */
  #endsAtMs = 0
  /** When they ended in the previous one. */
  #endedAtMs = 0
  #isOpen = false

  /** @param nowMs the time, from any origin */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /**
   * Begins at once if this iteration has time left: most computations are short.
   *
   * @throws the error of a step; the reason of the signal, at the next yield
   */
  run<Result>(steps: Generator<undefined, Result>, signal?: AbortSignal): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const advance = () => {
        try {
          const result = this.#slice(steps, signal)
          if (result !== null) resolve(result.value)
          return result !== null
        } catch (error) {
          reject(error)
          return true
        }
      }
      const computation = { advance, usedMs: this.#leastUsed()?.usedMs ?? 0 }
      if (!this.#isOpen) {
        this.#endedAtMs = this.#nowMs()
        this.#open(SHARE_MS.min)
      }
      if (this.#nowMs() >= this.#endsAtMs || !this.#advance(computation)) this.#waiting.push(computation)
    })
  }

  #open(shareMs: number): void {
    this.#isOpen = true
    this.#endsAtMs = this.#nowMs() + shareMs
    setImmediate(() => this.#iterate())
  }

  #iterate(): void {
    this.#isOpen = false
    if (this.#waiting.length === 0) return
    const othersMs = this.#nowMs() - this.#endedAtMs
    this.#open(Math.min(Math.max(othersMs, SHARE_MS.min), SHARE_MS.max))
    do {
      const next = this.#leastUsed()
      if (next === undefined) break
      if (this.#advance(next)) this.#waiting.splice(this.#waiting.indexOf(next), 1)
    } while (this.#nowMs() < this.#endsAtMs)
    this.#endedAtMs = this.#nowMs()
  }

  #leastUsed(): Computation | undefined {
    let [least] = this.#waiting
    for (const each of this.#waiting) if (least !== undefined && each.usedMs < least.usedMs) least = each
    return least
  }

  #advance(computation: Computation): boolean {
    const startedMs = this.#nowMs()
    const hasEnded = computation.advance()
    computation.usedMs += this.#nowMs() - startedMs
    return hasEnded
  }

  /** @returns null if it has not ended */
  #slice<Result>(steps: Generator<undefined, Result>, signal: AbortSignal | undefined): { value: Result } | null {
    if (signal?.aborted) {
      steps.return(undefined as never)
      throw signal.reason
    }
    const endsAtMs = this.#nowMs() + SLICE_MS
    do {
      const { done, value } = steps.next()
      if (done) return { value }
    } while (this.#nowMs() < endsAtMs)
    return null
  }
}

const computations = new Computations()

export interface CooperationOptions {
  /** Milliseconds of its own per iteration of the event loop; more of them end it sooner, and delay others. Default: it shares. */
  readonly turnMs?: number
  /** Ends the computation at its next yield. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs a computation that yields regularly, and lets other work run at its yields.
 *
 * @throws the error of a step; the reason of the signal
 */
export async function runCooperatively<Result>(
  steps: Generator<undefined, Result>,
  { turnMs, signal }: CooperationOptions = {},
): Promise<Result> {
  if (turnMs === undefined) return await computations.run(steps, signal)
  const turns = new EventLoopYielder(undefined, turnMs)
  for (;;) {
    signal?.throwIfAborted()
    const step = steps.next()
    if (step.done) return step.value
    await turns.next()
  }
}
