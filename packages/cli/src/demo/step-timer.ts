import type { Printer } from '../output/printer.js'
import { formatDuration } from '../output/table.js'

export interface TimedStep {
  readonly name: string
  readonly durationMs: number
}

/** Runs steps one after another, prints each with its duration, and records it. */
export class StepTimer {
  readonly #printer: Printer
  readonly #done: TimedStep[] = []

  constructor(printer: Printer) {
    this.#printer = printer
  }

  /** The completed steps, in order; the list grows with each. */
  get done(): readonly TimedStep[] {
    return this.#done
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const startedAtMs = performance.now()
    const result = await work()
    const durationMs = Math.round(performance.now() - startedAtMs)
    this.#done.push({ name, durationMs })
    this.#printer.note(`${this.#printer.colors.green('✓')} ${name} (${formatDuration(durationMs)})`)
    return result
  }
}
