import type { Agenda } from './agenda.js'

/** The mean of a number over simulated time. */
export class TimeMean {
  readonly #agenda: Agenda
  #value = 0
  #sum = 0
  #updatedMs = 0
  #sinceMs = 0
  #max = 0

  constructor(agenda: Agenda) {
    this.#agenda = agenda
  }

  get value(): number {
    return this.#value
  }

  get max(): number {
    return this.#max
  }

  set(value: number): void {
    this.#update()
    this.#value = value
    this.#max = Math.max(this.#max, value)
  }

  add(change: number): void {
    this.set(this.#value + change)
  }

  /** Forgets the time before. */
  restart(): void {
    this.#update()
    this.#sum = 0
    this.#sinceMs = this.#updatedMs
    this.#max = this.#value
  }

  /** 0 if no time has passed. */
  mean(): number {
    this.#update()
    const elapsedMs = this.#updatedMs - this.#sinceMs
    return elapsedMs === 0 ? 0 : this.#sum / elapsedMs
  }

  #update(): void {
    const { nowMs } = this.#agenda
    this.#sum += this.#value * (nowMs - this.#updatedMs)
    this.#updatedMs = nowMs
  }
}
