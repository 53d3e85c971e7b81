import { type Agenda, Heap } from './agenda.js'
import { TimeMean } from './time-mean.js'

/**
 * Processors that running threads share equally, none having more than one: threads run at full speed until there are more of them
 * than processors, as under the scheduler of an operating system.
 *
 * All threads run at the same speed, so each ends when the time that any one of them was given since the start (`#givenMs`)
 * reaches its own mark: a change of speed moves no marks.
 */
export class Machine {
  readonly #agenda: Agenda
  readonly #processors: number
  readonly #marks = new Heap<() => void>()
  /** Busy processors. */
  readonly busy: TimeMean
  #givenMs = 0
  #updatedMs = 0
  #timers = 0

  constructor(agenda: Agenda, processors: number) {
    this.#agenda = agenda
    this.#processors = processors
    this.busy = new TimeMean(agenda)
  }

  /** Runs a thread for this much processor time. */
  run(ms: number, done: () => void): void {
    if (ms === 0) {
      done()
      return
    }
    this.#give()
    this.#marks.push(this.#givenMs + ms, done)
    this.#setTimer()
  }

  get #speed(): number {
    return Math.min(1, this.#processors / this.#marks.size)
  }

  #give(): void {
    const { nowMs } = this.#agenda
    if (this.#marks.size > 0) this.#givenMs += (nowMs - this.#updatedMs) * this.#speed
    this.#updatedMs = nowMs
  }

  /** For the thread that ends first, unless the number of threads changes before. */
  #setTimer(): void {
    this.busy.set(Math.min(this.#marks.size, this.#processors))
    if (this.#marks.size === 0) return
    const timer = ++this.#timers
    const leftMs = Math.max(0, this.#marks.firstKey - this.#givenMs) / this.#speed
    this.#agenda.after(leftMs, () => {
      if (timer === this.#timers) this.#end()
    })
  }

  #end(): void {
    this.#give()
    // Rounding must not leave a thread that needs no more time.
    this.#givenMs = Math.max(this.#givenMs, this.#marks.firstKey)
    const ended: (() => void)[] = []
    while (this.#marks.firstKey <= this.#givenMs) {
      const done = this.#marks.pop()
      if (done !== undefined) ended.push(done)
    }
    this.#setTimer()
    for (const done of ended) done()
  }
}
