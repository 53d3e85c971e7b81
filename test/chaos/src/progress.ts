/** The share of acknowledged messages. */
export class Progress {
  readonly #total: number
  readonly #waiting = new Set<{ count: number; resolve: () => void }>()
  #acknowledged = 0

  constructor(total: number) {
    this.#total = total
  }

  get share(): number {
    return this.#acknowledged / this.#total
  }

  add(count: number): void {
    this.#acknowledged += count
    for (const waiter of this.#waiting) {
      if (this.#acknowledged < waiter.count) continue
      this.#waiting.delete(waiter)
      waiter.resolve()
    }
  }

  /** Resolves once this share is acknowledged, from 0 to 1. */
  async reaches(share: number): Promise<void> {
    const count = Math.ceil(share * this.#total)
    if (this.#acknowledged >= count) return
    await new Promise<void>((resolve) => this.#waiting.add({ count, resolve }))
  }
}
