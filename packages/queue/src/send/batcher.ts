export interface BatcherOptions<Item> {
  /** Items in one flush. */
  itemsMax: number
  /** Sum of the items' weights in one flush; a heavier item goes alone. */
  weightMax: number
  /** Flushes under way at once. */
  flushesMax: number
  flush(items: readonly Item[]): Promise<void>
  /** True for an error that also everything behind it would meet: it is refused at once, rather than piled up. */
  failsAll?(error: unknown): boolean
}

interface Entry<Item> {
  item: Item
  weight: number
  key: string | undefined
  settled: Promise<void>
  resolve(): void
  reject(error: unknown): void
}

/**
 * Combines what is handed in within one tick into one round trip. The 256 handlers of a worker finish together when their
 * group is committed, and each of them wakes the next stages: one by one that would be hundreds of round trips.
 *
 * While `flushesMax` flushes are under way the rest gathers for the next one, so batches grow with the load by themselves.
 */
export class Batcher<Item> {
  readonly #options: BatcherOptions<Item>
  #entries: Entry<Item>[] = []
  /** Entries not yet flushed that others may join. */
  readonly #byKey = new Map<string, Entry<Item>>()
  #flushes = 0
  #scheduled = false
  #idle: (() => void)[] = []

  constructor(options: BatcherOptions<Item>) {
    this.#options = options
  }

  /**
   * Resolves once the item has been flushed.
   *
   * @param key items of one key that meet in a batch are the same: only the first of them is flushed
   */
  add(item: Item, weight: number, key?: string): Promise<void> {
    const same = key === undefined ? undefined : this.#byKey.get(key)
    if (same !== undefined) return same.settled
    const entry = createEntry(item, weight, key)
    this.#entries.push(entry)
    if (key !== undefined) this.#byKey.set(key, entry)
    this.#schedule()
    return entry.settled
  }

  /** Resolves once nothing waits and nothing is under way. */
  async whenIdle(): Promise<void> {
    if (this.#entries.length === 0 && this.#flushes === 0) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #schedule(): void {
    if (this.#scheduled || this.#entries.length === 0 || this.#flushes >= this.#options.flushesMax) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#start()
    })
  }

  #start(): void {
    const batch = this.#takeBatch()
    if (batch.length === 0) return
    this.#flushes += 1
    this.#options
      .flush(batch.map((entry) => entry.item))
      .then(
        () => {
          for (const entry of batch) entry.resolve()
        },
        (error: unknown) => {
          for (const entry of batch) entry.reject(error)
          if (this.#options.failsAll?.(error)) this.#refuseWaiting(error)
        },
      )
      .finally(() => {
        this.#flushes -= 1
        this.#schedule()
        if (this.#entries.length === 0 && this.#flushes === 0) for (const resolve of this.#idle.splice(0)) resolve()
      })
    this.#schedule()
  }

  #refuseWaiting(error: unknown): void {
    const refused = this.#entries
    this.#entries = []
    this.#byKey.clear()
    for (const entry of refused) entry.reject(error)
  }

  #takeBatch(): Entry<Item>[] {
    const { itemsMax, weightMax } = this.#options
    let weight = 0
    let count = 0
    for (const entry of this.#entries) {
      if (count === itemsMax || (count > 0 && weight + entry.weight > weightMax)) break
      weight += entry.weight
      count += 1
    }
    const batch = this.#entries.slice(0, count)
    this.#entries = this.#entries.slice(count)
    for (const entry of batch) if (entry.key !== undefined) this.#byKey.delete(entry.key)
    return batch
  }
}

function createEntry<Item>(item: Item, weight: number, key: string | undefined): Entry<Item> {
  let resolve = () => {}
  let reject = (_error: unknown) => {}
  const settled = new Promise<void>((onFlushed, onFailed) => {
    resolve = onFlushed
    reject = onFailed
  })
  // A caller that was itself aborted may never look at the promise.
  settled.catch(() => {})
  return { item, weight, key, settled, resolve, reject }
}
