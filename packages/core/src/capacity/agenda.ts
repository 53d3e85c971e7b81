/** A heap: the entry with the smallest key first, and of equal keys the one that was added first. */
export class Heap<Entry> {
  readonly #entries: { readonly key: number; readonly order: number; readonly entry: Entry }[] = []
  #orders = 0

  get size(): number {
    return this.#entries.length
  }

  /** Infinity if the heap is empty. */
  get firstKey(): number {
    return this.#entries[0]?.key ?? Number.POSITIVE_INFINITY
  }

  push(key: number, entry: Entry): void {
    const entries = this.#entries
    const added = { key, order: this.#orders++, entry }
    let at = entries.length
    entries.push(added)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = entries[above]
      if (parent === undefined || parent.key <= key) break
      entries[at] = parent
      at = above
    }
    entries[at] = added
  }

  pop(): Entry | undefined {
    const entries = this.#entries
    const first = entries[0]
    const last = entries.pop()
    if (first === undefined || last === undefined || entries.length === 0) return first?.entry
    let at = 0
    for (;;) {
      const below = this.#smaller(2 * at + 1)
      const child = entries[below]
      if (child === undefined || !isBefore(child, last)) break
      entries[at] = child
      at = below
    }
    entries[at] = last
    return first.entry
  }

  #smaller(left: number): number {
    const [first, second] = [this.#entries[left], this.#entries[left + 1]]
    return first !== undefined && second !== undefined && isBefore(second, first) ? left + 1 : left
  }
}

type Place = { readonly key: number; readonly order: number }

function isBefore(one: Place, other: Place): boolean {
  return one.key < other.key || (one.key === other.key && one.order < other.order)
}

/** The simulated time, and what happens when. Nothing happens between two events, so the time jumps to the next one. */
export class Agenda {
  readonly #events = new Heap<() => void>()
  #nowMs = 0

  get nowMs(): number {
    return this.#nowMs
  }

  after(ms: number, act: () => void): void {
    this.#events.push(this.#nowMs + ms, act)
  }

  /** Runs the events up to this time, and those that they add, then stops the clock there. */
  runUntil(untilMs: number): void {
    while (this.#events.firstKey <= untilMs) this.runNext()
    this.#nowMs = Math.max(this.#nowMs, untilMs)
  }

  /** @returns whether there was an event */
  runNext(): boolean {
    const atMs = this.#events.firstKey
    const act = this.#events.pop()
    if (act === undefined) return false
    this.#nowMs = Math.max(this.#nowMs, atMs)
    act()
    return true
  }
}
