import type { Finding } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'

/** A result stays valid this long: a page of several readers asks for the same. */
const KEPT_MS = 2_000

/** Runs the checks once for all callers of a moment: each run opens a connection and asks the models. */
export class SharedChecks {
  readonly #examine: () => Promise<readonly Finding[]>
  readonly #clock: Clock
  #running: Promise<readonly Finding[]> | null = null
  #last: { readonly findings: readonly Finding[]; readonly untilMs: number } | null = null

  constructor(examine: () => Promise<readonly Finding[]>, clock: Clock) {
    this.#examine = examine
    this.#clock = clock
  }

  read(): Promise<readonly Finding[]> {
    if (this.#last !== null && this.#last.untilMs > this.#clock.monotonicMs())
      return Promise.resolve(this.#last.findings)
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #run(): Promise<readonly Finding[]> {
    const findings = await this.#examine()
    this.#last = { findings, untilMs: this.#clock.monotonicMs() + KEPT_MS }
    return findings
  }
}
