/** A limited sum over the items of one batch. */
export interface Weight<Item> {
  of(item: Item): number
  /** An item above it is a batch of its own. */
  readonly max: number
}

export interface BatchRules<Item> {
  /** Maximum number of items in one batch. Default: only the weights limit it. */
  readonly itemsMax?: number
  readonly weights?: readonly Weight<Item>[]
  /** Two concurrent batches never contain items of the same lane. Default: an item has no lane. */
  readonly laneOf?: (item: Item) => string
  /** Items of the same name never share a batch. Default: any may. */
  readonly nameOf?: (item: Item) => string
  /** An item with the identity of a waiting one is merged with it. Default: no merging. */
  readonly identityOf?: (item: Item) => string | undefined
  /** Default: the waiting item is kept. */
  readonly merge?: (waiting: Item, added: Item) => Item
  /** Concurrent batches of one key. Default 1. */
  readonly batchesMax?: number
  /** Minimum number of items, or of the first weight, for starting a batch beside a running one. */
  readonly anotherFrom?: { readonly items: number; readonly weight: number }
}

/** A caller's wait for the flush of its item. */
class Wait {
  readonly settled: Promise<void>
  isSettled = false
  /** The round of the gatherer's timer in which it began. */
  readonly #round: number
  #resolve!: () => void
  #reject!: (error: unknown) => void

  constructor(round: number) {
    this.#round = round
    this.settled = new Promise<void>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  resolve(): void {
    this.isSettled = true
    this.#resolve()
  }

  reject(error: unknown): void {
    // An aborted caller may never handle the promise.
    this.settled.catch(() => {})
    this.isSettled = true
    this.#reject(error)
  }

  rejectIfOlder(round: number, error: () => Error): void {
    if (!this.isSettled && this.#round <= round) this.reject(error())
  }
}

/** An item, and the callers that wait for its flush. */
export class Entry<Item> {
  item: Item
  readonly identity: string | undefined
  readonly #first: Wait
  /** Of items that were merged with this one. */
  #others: Wait[] | undefined

  constructor(item: Item, identity: string | undefined, round: number) {
    this.item = item
    this.identity = identity
    this.#first = new Wait(round)
  }

  get settled(): Promise<void> {
    return this.#first.settled
  }

  /** Whether no caller waits any more. */
  get isSettled(): boolean {
    return this.#first.isSettled && (this.#others?.every(({ isSettled }) => isSettled) ?? true)
  }

  /** @returns the wait of another caller */
  join(round: number): Promise<void> {
    const wait = new Wait(round)
    this.#others ??= []
    this.#others.push(wait)
    return wait.settled
  }

  resolve(): void {
    this.#first.resolve()
    for (const wait of this.#others ?? []) wait.resolve()
  }

  reject(error: unknown): void {
    this.#first.reject(error)
    for (const wait of this.#others ?? []) wait.reject(error)
  }

  /** Rejects the callers that wait since this round or an earlier one. */
  rejectIfOlder(round: number, error: () => Error): void {
    this.#first.rejectIfOlder(round, error)
    for (const wait of this.#others ?? []) wait.rejectIfOlder(round, error)
  }
}

/** The items of one key: the waiting ones, in order, and the lanes of running batches. */
export class GathererLine<Item> {
  readonly key: string
  readonly #rules: BatchRules<Item>
  #entries: Entry<Item>[] = []
  /** Waiting entries that others may be merged with. */
  readonly #byIdentity = new Map<string, Entry<Item>>()
  readonly #lanesUnderWay = new Set<string>()
  #batches = 0
  /** Ends the delay in which the line waits for more items; undefined if it does not wait. */
  cancelPause: (() => void) | undefined
  /** Whether a batch will start at the end of this tick. */
  isScheduled = false

  constructor(key: string, rules: BatchRules<Item>) {
    this.key = key
    this.#rules = rules
  }

  get size(): number {
    return this.#entries.length
  }

  /** The items that wait, in order. */
  get waiting(): readonly Entry<Item>[] {
    return this.#entries
  }

  get isFull(): boolean {
    return this.#entries.length >= (this.#rules.itemsMax ?? Number.POSITIVE_INFINITY)
  }

  get isIdle(): boolean {
    return this.#entries.length === 0 && this.#batches === 0 && !this.isScheduled && this.cancelPause === undefined
  }

  /** @returns settles with the flush of the item */
  add(item: Item, round: number): Promise<void> {
    const { identityOf, merge } = this.#rules
    const identity = identityOf?.(item)
    const same = identity === undefined ? undefined : this.#byIdentity.get(identity)
    if (same !== undefined) {
      if (merge !== undefined) same.item = merge(same.item, item)
      return same.join(round)
    }
    const entry = new Entry(item, identity, round)
    this.#entries.push(entry)
    if (identity !== undefined) this.#byIdentity.set(identity, entry)
    return entry.settled
  }

  /** Whether enough items wait for another batch beside the running ones. */
  get isReady(): boolean {
    const { batchesMax = 1, anotherFrom } = this.#rules
    if (this.#entries.length === 0 || this.#batches >= batchesMax) return false
    return this.#batches === 0 || anotherFrom === undefined || this.#holds(anotherFrom)
  }

  /** Removes the next batch from the line; empty if the lanes of all waiting items are in use. */
  begin(): readonly Entry<Item>[] {
    const batch = this.#cut()
    if (batch.length > 0) this.#batches++
    const { identityOf, laneOf } = this.#rules
    if (identityOf !== undefined) for (const { identity } of batch) this.#byIdentity.delete(identity ?? '')
    if (laneOf !== undefined) for (const { item } of batch) this.#lanesUnderWay.add(laneOf(item))
    return batch
  }

  /** @param kept entries to retry, before all waiting ones */
  end(batch: readonly Entry<Item>[], kept: readonly Entry<Item>[]): void {
    this.#batches--
    const { laneOf } = this.#rules
    if (laneOf !== undefined) for (const { item } of batch) this.#lanesUnderWay.delete(laneOf(item))
    if (kept.length > 0) this.#entries = [...kept, ...this.#entries]
  }

  /** Removes all waiting entries. */
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

/** @returns whether the items so far are within a limit */
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
