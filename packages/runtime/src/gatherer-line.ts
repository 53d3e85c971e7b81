/** A sum over the items of one batch that has a bound. */
export interface Weight<Item> {
  of(item: Item): number
  /** An item above it goes alone. */
  readonly max: number
}

/** How items are grouped. */
export interface BatchRules<Item> {
  /** Items in one batch. Default: only the weights bound it. */
  readonly itemsMax?: number
  readonly weights?: readonly Weight<Item>[]
  /** Two batches that are under way at once never hold items of the same lane. Default: an item has no lane. */
  readonly laneOf?: (item: Item) => string
  /** Items of the same name never share a batch. Default: any may. */
  readonly nameOf?: (item: Item) => string
  /** An item that is the same as one that still waits is merged with it. Default: each is one of its own. */
  readonly identityOf?: (item: Item) => string | undefined
  /** Default: the one that waits stands for both. */
  readonly merge?: (waiting: Item, added: Item) => Item
  /** Batches of one key under way at once. Default 1. */
  readonly batchesMax?: number
  /** Beside a batch under way, another is begun only from so many items, or from so much of the first weight, on. */
  readonly anotherFrom?: { readonly items: number; readonly weight: number }
}

/** An item, and who waits for the end of its flush. */
export interface Entry<Item> {
  item: Item
  readonly identity: string | undefined
  readonly settled: Promise<void>
  resolve(): void
  reject(error: unknown): void
}

/** The items of one key: those that wait, in their order, and which lanes are under way. */
export class GathererLine<Item> {
  readonly key: string
  readonly #rules: BatchRules<Item>
  #entries: Entry<Item>[] = []
  /** Entries that wait and others may be merged with. */
  readonly #byIdentity = new Map<string, Entry<Item>>()
  readonly #lanesUnderWay = new Set<string>()
  #batches = 0
  /** Ends the time in which the line waits for more items; undefined where it does not. */
  cancelPause: (() => void) | undefined
  /** A batch is begun at the end of this tick. */
  isScheduled = false

  constructor(key: string, rules: BatchRules<Item>) {
    this.key = key
    this.#rules = rules
  }

  get size(): number {
    return this.#entries.length
  }

  get isFull(): boolean {
    return this.#entries.length >= (this.#rules.itemsMax ?? Number.POSITIVE_INFINITY)
  }

  get isIdle(): boolean {
    return this.#entries.length === 0 && this.#batches === 0 && !this.isScheduled && this.cancelPause === undefined
  }

  /** @returns the entry of the item, which may be one that waited before */
  add(item: Item): Entry<Item> {
    const { identityOf, merge } = this.#rules
    const identity = identityOf?.(item)
    if (identity !== undefined) {
      const same = this.#byIdentity.get(identity)
      if (same !== undefined) {
        if (merge !== undefined) same.item = merge(same.item, item)
        return same
      }
    }
    const entry = createEntry(item, identity)
    this.#entries.push(entry)
    if (identity !== undefined) this.#byIdentity.set(identity, entry)
    return entry
  }

  /** Whether enough waits for another batch beside those under way. */
  get isReady(): boolean {
    const { batchesMax = 1, anotherFrom } = this.#rules
    if (this.#entries.length === 0 || this.#batches >= batchesMax) return false
    return this.#batches === 0 || anotherFrom === undefined || this.#holds(anotherFrom)
  }

  /** Takes the next batch out of the line; empty where the lanes of all that waits are under way. */
  begin(): readonly Entry<Item>[] {
    const batch = this.#cut()
    if (batch.length > 0) this.#batches++
    const { identityOf, laneOf } = this.#rules
    if (identityOf !== undefined) for (const { identity } of batch) this.#byIdentity.delete(identity ?? '')
    if (laneOf !== undefined) for (const { item } of batch) this.#lanesUnderWay.add(laneOf(item))
    return batch
  }

  /** @param kept what is to be tried again, before all that waits */
  end(batch: readonly Entry<Item>[], kept: readonly Entry<Item>[]): void {
    this.#batches--
    const { laneOf } = this.#rules
    if (laneOf !== undefined) for (const { item } of batch) this.#lanesUnderWay.delete(laneOf(item))
    if (kept.length > 0) this.#entries = [...kept, ...this.#entries]
  }

  /** Takes out all that waits. */
  empty(): readonly Entry<Item>[] {
    const entries = this.#entries
    this.#entries = []
    this.#byIdentity.clear()
    return entries
  }

  #cut(): readonly Entry<Item>[] {
    const { itemsMax = Number.POSITIVE_INFINITY, weights = [], nameOf } = this.#rules
    const checks = weights.map(createSum)
    if (nameOf !== undefined) checks.push(createNames(nameOf))
    const batch: Entry<Item>[] = []
    const passedOver: Entry<Item>[] = []
    for (const entry of this.#entries) {
      if (this.#isUnderWay(entry)) {
        passedOver.push(entry)
        continue
      }
      let fits = batch.length < itemsMax
      for (const check of checks) fits = check(entry.item) && fits
      if (!fits && batch.length > 0) break
      batch.push(entry)
    }
    const rest = this.#entries.slice(batch.length + passedOver.length)
    this.#entries = passedOver.length === 0 ? rest : [...passedOver, ...rest]
    return batch
  }

  #holds({ items: itemsMin, weight: weightMin }: { readonly items: number; readonly weight: number }): boolean {
    const [weight] = this.#rules.weights ?? []
    let items = 0
    let sum = 0
    for (const entry of this.#entries) {
      if (this.#isUnderWay(entry)) continue
      items++
      sum += weight?.of(entry.item) ?? 0
      if (items >= itemsMin || sum >= weightMin) return true
    }
    return false
  }

  #isUnderWay({ item }: Entry<Item>): boolean {
    const { laneOf } = this.#rules
    return laneOf !== undefined && this.#lanesUnderWay.has(laneOf(item))
  }
}

/** @returns whether the items so far are within a bound */
type Check<Item> = (item: Item) => boolean

function createSum<Item>({ of, max }: Weight<Item>): Check<Item> {
  let sum = 0
  return (item) => {
    sum += of(item)
    return sum <= max
  }
}

function createNames<Item>(nameOf: (item: Item) => string): Check<Item> {
  const names = new Set<string>()
  return (item) => names.size < names.add(nameOf(item)).size
}

function createEntry<Item>(item: Item, identity: string | undefined): Entry<Item> {
  let resolve = () => {}
  let reject = (_error: unknown) => {}
  const settled = new Promise<void>((onFlushed, onRefused) => {
    resolve = onFlushed
    reject = onRefused
  })
  // A caller that was itself aborted may never look at the promise.
  settled.catch(() => {})
  return { item, identity, settled, resolve, reject }
}
