/**
 * Who waits for something that comes free one at a time. Each owner has a line of its own, and owners are served in turn: one
 * with a thousand entries keeps another waiting for one of them, not for a thousand.
 */
export class FairLine<Entry> {
  /** In the order in which owners are served next. */
  readonly #lines = new Map<string, Set<Entry>>()

  /** @returns leaves the line, if still in it */
  add(owner: string, entry: Entry): () => void {
    const line = this.#lines.get(owner) ?? new Set()
    line.add(entry)
    this.#lines.set(owner, line)
    return () => this.#remove(owner, entry)
  }

  /** Takes out the first entry of the owner whose turn it is; undefined where nobody waits. */
  take(): Entry | undefined {
    for (const [owner, line] of this.#lines) {
      const [entry] = line
      if (entry === undefined) continue
      this.#lines.delete(owner)
      line.delete(entry)
      if (line.size > 0) this.#lines.set(owner, line)
      return entry
    }
    return undefined
  }

  /** All that wait, in no order that matters. */
  *[Symbol.iterator](): Generator<Entry> {
    for (const line of [...this.#lines.values()]) yield* [...line]
  }

  #remove(owner: string, entry: Entry): void {
    const line = this.#lines.get(owner)
    line?.delete(entry)
    if (line?.size === 0) this.#lines.delete(owner)
  }
}
