/** Random numbers that follow from a seed, so that a simulation can be repeated. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** From 0 up to 1, exclusive (mulberry32 by Tommy Ettinger, public domain). */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  /** With the mean 1: the time until the next of events that happen at random moments. */
  exponential(): number {
    return -Math.log(1 - this.uniform())
  }

  /**
   * Above zero, with the mean 1 and this standard deviation: gamma-distributed, so 1 is the exponential distribution
   * (Marsaglia and Tsang, ACM Transactions on Mathematical Software 26, 2000).
   */
  spread(deviation: number): number {
    if (deviation === 0) return 1
    if (deviation === 1) return this.exponential()
    const shape = 1 / deviation ** 2
    // Below 1 the method needs the next higher shape, whose value is lowered by a power of a uniform number.
    const isLow = shape < 1
    const offset = (isLow ? shape + 1 : shape) - 1 / 3
    const factor = 1 / Math.sqrt(9 * offset)
    for (;;) {
      const normal = this.#normal()
      const cube = (1 + factor * normal) ** 3
      if (cube <= 0) continue
      if (Math.log(1 - this.uniform()) >= normal ** 2 / 2 + offset * (1 - cube + Math.log(cube))) continue
      const lowered = isLow ? (1 - this.uniform()) ** (1 / shape) : 1
      return (offset * cube * lowered) / shape
    }
  }

  #normal(): number {
    return Math.sqrt(2 * this.exponential()) * Math.cos(2 * Math.PI * this.uniform())
  }
}
