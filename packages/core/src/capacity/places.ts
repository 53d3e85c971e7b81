import type { Agenda } from './agenda.js'
import { Fifo } from './fifo.js'
import { TimeMean } from './time-mean.js'

/** Places that one task at a time holds: the thread of a process, the connections of a server. First come, first served. */
export class Places {
  readonly #count: number
  readonly #waiting = new Fifo<() => void>()
  readonly held: TimeMean

  constructor(agenda: Agenda, count: number) {
    this.#count = count
    this.held = new TimeMean(agenda)
  }

  /** Calls back at once if a place is free. */
  hold(begin: () => void): void {
    if (this.held.value < this.#count) {
      this.held.add(1)
      begin()
    } else this.#waiting.push(begin)
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.held.add(-1)
    else next()
  }
}
