import { hash } from 'node:crypto'

const CAPACITY_FIRST = 1_024
/** Load factor at which the table grows; in a fuller one, searches for a free slot take longer. */
const FULL_AT = 0.7

/**
 * Numbers by text, in some 25 bytes each for texts of any length: only 64 bits of each hash are stored. With ten
 * million texts the probability that any two of them are confused is one in a hundred thousand.
 */
export class HashTable {
  #size = 0
  #capacity = CAPACITY_FIRST
  /** Two halves of a hash per slot, adjacent; both are 0 in a free slot. */
  #hashes = new Uint32Array(2 * CAPACITY_FIRST)
  #numbers = new Float64Array(CAPACITY_FIRST)

  get(text: string): number | undefined {
    const [high, low] = halvesOf(text)
    const slot = this.#slotOf(high, low)
    return this.#isFree(slot) ? undefined : this.#numbers[slot]
  }

  has(text: string): boolean {
    return this.get(text) !== undefined
  }

  set(text: string, number: number): void {
    if (this.#size >= this.#capacity * FULL_AT) this.#grow()
    const [high, low] = halvesOf(text)
    this.#put(high, low, number)
  }

  #put(high: number, low: number, number: number): void {
    const slot = this.#slotOf(high, low)
    if (this.#isFree(slot)) this.#size++
    this.#hashes[2 * slot] = high
    this.#hashes[2 * slot + 1] = low
    this.#numbers[slot] = number
  }

  /** The slot of a hash, or the free one where it belongs. */
  #slotOf(high: number, low: number): number {
    let slot = low & (this.#capacity - 1)
    while (!this.#isFree(slot) && (this.#hashes[2 * slot] !== high || this.#hashes[2 * slot + 1] !== low))
      slot = (slot + 1) & (this.#capacity - 1)
    return slot
  }

  #isFree(slot: number): boolean {
    return this.#hashes[2 * slot] === 0
  }

  #grow(): void {
    const [hashes, numbers] = [this.#hashes, this.#numbers]
    this.#capacity *= 2
    this.#size = 0
    this.#hashes = new Uint32Array(2 * this.#capacity)
    this.#numbers = new Float64Array(this.#capacity)
    for (const [slot, number] of numbers.entries()) {
      const high = hashes[2 * slot] ?? 0
      if (high !== 0) this.#put(high, hashes[2 * slot + 1] ?? 0, number)
    }
  }
}

/** The first half is never 0. */
function halvesOf(text: string): [number, number] {
  const bytes = hash('sha256', text, 'buffer')
  return [bytes.readUInt32LE(0) || 1, bytes.readUInt32LE(4)]
}
