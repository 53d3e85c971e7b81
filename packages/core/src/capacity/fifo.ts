/** A line: the entry that was added first leaves first. Removing one costs the same however many wait. */
export class Fifo<Entry> {
  #entries: Entry[] = []
  #first = 0

  get size(): number {
    return this.#entries.length - this.#first
  }

  push(entry: Entry): void {
    this.#entries.push(entry)
  }

  shift(): Entry | undefined {
    const entry = this.#entries[this.#first]
    if (this.size === 0) return undefined
    this.#first++
    if (this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first)
      this.#first = 0
    }
    return entry
  }
}
