import { formatFigure, type Measured, toFigure } from '@heddle/test-support/figure'

/** Prints the selected figures of several runs to standard output, each as a line of JSON. */
export class PrintedFigures {
  readonly #say: (line: string) => void
  #misses = 0

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  /** 1 if a figure missed its target or a run failed. */
  get exitCode(): 0 | 1 {
    return this.#misses === 0 ? 0 : 1
  }

  /** Prints the figures that a run passes on; a failure of the run is reported and counts as a miss. */
  async ofRun(
    name: string,
    wanted: readonly string[],
    run: (print: (measured: Measured) => void) => void | Promise<void>,
  ): Promise<void> {
    try {
      await run((measured) => {
        if (!wanted.includes(measured.name)) return
        const figure = toFigure(measured)
        if (figure.pass === false) this.#misses++
        process.stdout.write(`${formatFigure(figure)}\n`)
      })
    } catch (error) {
      this.#misses++
      this.#say(`${name} failed: ${error instanceof Error ? (error.stack ?? error.message) : error}`)
    }
  }
}
