/** Shorter times are counted as this one. */
const SHORTEST_MS = 0.001
/** Ratio of neighbouring boundaries: the error of a percentile is at most half a percent. */
const STEP = 1.01

/** Times of any number in a fixed amount of memory: counted by size, in steps of one percent. */
export class Durations {
  readonly #counts = new Map<number, number>()
  #sumMs = 0
  #count = 0

  get count(): number {
    return this.#count
  }

  get sumMs(): number {
    return this.#sumMs
  }

  add(ms: number): void {
    this.#count++
    this.#sumMs += ms
    const step = ms <= SHORTEST_MS ? 0 : Math.ceil(Math.log(ms / SHORTEST_MS) / Math.log(STEP))
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1)
  }

  /** 0 without times. */
  meanMs(): number {
    return this.#count === 0 ? 0 : this.#sumMs / this.#count
  }

  /** @param share from 0 to 1. @returns 0 without times */
  percentileMs(share: number): number {
    let left = Math.ceil(share * this.#count)
    for (const [step, count] of [...this.#counts].sort(([one], [other]) => one - other)) {
      left -= count
      if (left <= 0) return step === 0 ? 0 : SHORTEST_MS * STEP ** (step - 0.5)
    }
    return 0
  }

  clear(): void {
    this.#counts.clear()
    this.#sumMs = 0
    this.#count = 0
  }
}
