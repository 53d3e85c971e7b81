import { PASSAGES_MAX } from './passages.js'

const CAPACITY_LEAST = 16

/**
 * Sums of a thread's passages that contain a term of the query, in one open hash table: most passages of a scope have
 * none, and of a message with a thousand passages only a few may count.
 */
export class PassageScores {
  #keys = new Float64Array(CAPACITY_LEAST)
  #scores = new Float64Array(CAPACITY_LEAST)
  #shares = new Float64Array(CAPACITY_LEAST)
  #measures = new Uint8Array(CAPACITY_LEAST)
  #count = 0

  /**
   * @param share the weight of the term among all of the query
   * @param measure of the passage, of which all but the frequency is the same for each term
   */
  add(
    seq: number,
    passage: number,
    { score, share, measure }: { score: number; share: number; measure: number },
  ): void {
    if (2 * (this.#count + 1) > this.#keys.length) this.#grow()
    const key = seq * PASSAGES_MAX + passage + 1
    const slot = slotOf(this.#keys, key)
    if (this.#keys[slot] === 0) {
      this.#keys[slot] = key
      this.#count++
    }
    this.#scores[slot] = (this.#scores[slot] as number) + score
    this.#shares[slot] = (this.#shares[slot] as number) + share
    this.#measures[slot] = measure
  }

  /** Calls `visit` for each passage, in any order. */
  each(visit: (seq: number, passage: number, score: number, share: number, measure: number) => void): void {
    for (let slot = 0; slot < this.#keys.length; slot++) {
      const key = this.#keys[slot] as number
      if (key === 0) continue
      const passage = (key - 1) % PASSAGES_MAX
      const seq = (key - 1 - passage) / PASSAGES_MAX
      visit(seq, passage, this.#scores[slot] as number, this.#shares[slot] as number, this.#measures[slot] as number)
    }
  }

  #grow(): void {
    const [keys, scores, shares, measures] = [this.#keys, this.#scores, this.#shares, this.#measures]
    const capacity = 2 * keys.length
    this.#keys = new Float64Array(capacity)
    this.#scores = new Float64Array(capacity)
    this.#shares = new Float64Array(capacity)
    this.#measures = new Uint8Array(capacity)
    for (let from = 0; from < keys.length; from++) {
      const key = keys[from] as number
      if (key === 0) continue
      const slot = slotOf(this.#keys, key)
      this.#keys[slot] = key
      this.#scores[slot] = scores[from] as number
      this.#shares[slot] = shares[from] as number
      this.#measures[slot] = measures[from] as number
    }
  }
}

/** The slot of a key, or the free one where it belongs. */
function slotOf(keys: Float64Array, key: number): number {
  const last = keys.length - 1
  let slot = Math.imul(key ^ (key / PASSAGES_MAX), 0x9e3779b1) >>> 0
  slot = (slot ^ (slot >>> 15)) & last
  while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & last
  return slot
}
