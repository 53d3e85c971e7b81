import { type Agenda, Heap } from './agenda.js'
import { TimeMean } from './time-mean.js'

export interface MachineOptions {
  readonly processors: number
  /** See the plan's machines. */
  readonly crowding: number
  readonly neighbours: number
}

/**
 * Processors that running threads share equally, none having more than one: threads run at full speed until there are more of them
 * than processors, as under the scheduler of an operating system.
 *
 * All threads run at the same speed, so each ends when the time that any one of them was given since the start (`#givenMs`)
 * reaches its own mark: a change of speed moves no marks.
 */
export class Machine {
  readonly #agenda: Agenda
  readonly #options: MachineOptions
  readonly #marks = new Heap<() => void>()
  /** Busy processors, without those of neighbours. */
  readonly busy: TimeMean
  /** Processor time of ended threads, as it is on an idle machine. */
  workMs = 0
  #givenMs = 0
  #updatedMs = 0
  #timers = 0

  constructor(agenda: Agenda, options: MachineOptions) {
    this.#agenda = agenda
    this.#options = options
    this.busy = new TimeMean(agenda)
  }

  /** Forgets what was counted. */
  restart(): void {
    this.workMs = 0
    this.busy.restart()
  }

  /** Runs a thread for this much processor time, as it is on an idle machine. */
  run(ms: number, done: () => void): void {
    if (ms === 0) {
      done()
      return
    }
    this.#give()
    this.#marks.push(this.#givenMs + ms, () => {
      this.workMs += ms
      done()
    })
    this.#setTimer()
  }

  /** The part of a processor that each thread has. */
  get #share(): number {
    return Math.min(1, this.#options.processors / Math.max(1, this.#threads))
  }

  get #threads(): number {
    return this.#marks.size + this.#options.neighbours
  }

  /** Of each thread: 1 alone on an idle machine. */
  get #speed(): number {
    const { processors, crowding } = this.#options
    const crowd = Math.min(1, (this.#threads - 1) / Math.max(1, 2 * processors - 1))
    return this.#share / (1 + crowding * crowd)
  }

  #give(): void {
    const { nowMs } = this.#agenda
    if (this.#marks.size > 0) this.#givenMs += (nowMs - this.#updatedMs) * this.#speed
    this.#updatedMs = nowMs
  }

  /** For the thread that ends first, unless the number of threads changes before. */
  #setTimer(): void {
    this.busy.set(this.#marks.size * this.#share)
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
