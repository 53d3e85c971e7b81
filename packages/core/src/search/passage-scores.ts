import { PASSAGES_MAX } from './passages.js'

const CAPACITY_LEAST = 16

/**
 * Sums of a thread's passages that contain a term of the query, in one open hash table: most passages of a scope have
 * none, and of a message with a thousand passages only a few may count. One table serves all threads, one after another,
 * since a table for each would be most of the memory that a search allocates.
 */
export class PassageScores {
  #keys = new Float64Array(CAPACITY_LEAST)
  #scores = new Float64Array(CAPACITY_LEAST)
  #shares = new Float64Array(CAPACITY_LEAST)
  #measures = new Uint8Array(CAPACITY_LEAST)
  /** The slots in use, in the order of adding. */
  #slots = new Uint32Array(CAPACITY_LEAST)
  #count = 0
  /** The last slot of this thread's part of the table. */
  #last = CAPACITY_LEAST - 1

  /**
   * Removes all passages, for those of another thread.
   *
   * @param postings calls of `add` that follow at most
   */
  clear(postings: number): void {
    let capacity = CAPACITY_LEAST
    while (capacity < 2 * postings) capacity *= 2
    this.#count = 0
    this.#last = capacity - 1
    if (capacity <= this.#keys.length) {
      this.#keys.fill(0, 0, capacity)
      return
    }
    this.#keys = new Float64Array(capacity)
    this.#scores = new Float64Array(capacity)
    this.#shares = new Float64Array(capacity)
    this.#measures = new Uint8Array(capacity)
    this.#slots = new Uint32Array(capacity)
  }

  /**
   * @param share the weight of the term among all of the query
   * @param measure of the passage, of which all but the frequency is the same for each term
   */
  add(
    seq: number,
    passage: number,
    { score, share, measure }: { score: number; share: number; measure: number },
  ): void {
    const key = seq * PASSAGES_MAX + passage + 1
    const slot = this.#slotOf(key)
    if (this.#keys[slot] === 0) {
      this.#keys[slot] = key
      this.#scores[slot] = score
      this.#shares[slot] = share
      this.#slots[this.#count++] = slot
    } else {
      this.#scores[slot] = (this.#scores[slot] as number) + score
      this.#shares[slot] = (this.#shares[slot] as number) + share
    }
    this.#measures[slot] = measure
  }

  /** Calls `visit` for each passage, in any order. */
  each(visit: (seq: number, passage: number, score: number, share: number, measure: number) => void): void {
    for (let index = 0; index < this.#count; index++) {
      const slot = this.#slots[index] as number
      const key = this.#keys[slot] as number
      const passage = (key - 1) % PASSAGES_MAX
      const seq = (key - 1 - passage) / PASSAGES_MAX
      visit(seq, passage, this.#scores[slot] as number, this.#shares[slot] as number, this.#measures[slot] as number)
    }
  }

  /** The slot of a key, or the free one where it belongs. */
  #slotOf(key: number): number {
    const keys = this.#keys
    const last = this.#last
    let slot = Math.imul(key ^ (key / PASSAGES_MAX), 0x9e3779b1) >>> 0
    slot = (slot ^ (slot >>> 15)) & last
    while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & last
    return slot
  }
}
