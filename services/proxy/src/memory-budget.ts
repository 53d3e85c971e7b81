/** Bounds the memory of everything that is copied from requests and replies, of all conversations together. */
export class MemoryBudget {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Memory for one request, which is released as a whole. */
  open(): Reservation {
    let held = 0
    return {
      reserve: (bytes) => {
        if (this.#bytes + bytes > this.#bytesMax) return false
        this.#bytes += bytes
        held += bytes
        return true
      },
      release: () => {
        this.#bytes -= held
        held = 0
      },
    }
  }
}

export interface Reservation {
  /** @returns false, and reserves nothing, if the memory is used up */
  reserve(bytes: number): boolean
  release(): void
}
