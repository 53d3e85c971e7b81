/** Documents of a thread per number of a bit set. */
const BITS = 32

/**
 * A set of documents, one bit each: half of a scope's documents may be members, which takes a hundredth of the time and
 * memory that scores would.
 */
export class Members {
  readonly #threads = new Map<number, Uint32Array>()
  #number = -1
  #words: Uint32Array = new Uint32Array(0)

  add(thread: number, seq: number): void {
    const at = Math.floor(seq / BITS)
    let words = this.#find(thread)
    if (at >= words.length) {
      const larger = new Uint32Array(Math.max(2 * words.length, at + 1, 4))
      larger.set(words)
      words = larger
      this.#threads.set(thread, words)
      this.#words = words
    }
    words[at] = (words[at] as number) | (1 << (seq % BITS))
  }

  has(thread: number, seq: number): boolean {
    const word = this.#find(thread)[Math.floor(seq / BITS)] ?? 0
    return (word & (1 << (seq % BITS))) !== 0
  }

  #find(thread: number): Uint32Array {
    if (thread === this.#number) return this.#words
    this.#number = thread
    this.#words = this.#threads.get(thread) ?? EMPTY
    return this.#words
  }
}

const EMPTY = new Uint32Array(0)
