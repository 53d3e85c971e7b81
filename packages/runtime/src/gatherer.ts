import { HeddleError } from '@heddle/contracts'
import { type Clock, systemClock } from './clock.js'
import { type BatchRules, type Entry, GathererLine } from './gatherer-line.js'
import { within } from './timeout.js'

/**
 * Handling of a batch whose flush failed: all of its items fail; or also all that wait under the key; or each half is
 * retried by itself, down to single items; or only the items named by the function fail, and the others are retried
 * first.
 */
export type Refusal<Item> = 'reject' | 'reject-waiting' | 'split' | ((item: Item, index: number) => boolean)

export interface GathererOptions<Item> extends BatchRules<Item> {
  /** Processes the items of one batch, which share their key. */
  flush(items: readonly Item[], key: string): Promise<unknown>
  /** Items of one key share batches, and their order is kept. Default: one key for all items. */
  readonly keyOf?: (item: Item) => string
  /**
   * How long the first item of an idle key waits for a full batch, in milliseconds. Default 0: until the end of the
   * tick.
   */
  readonly delayMs?: number
  /** Delay of a key after a batch of this many items, unless a full one waits, in milliseconds. Default 0. */
  readonly restMs?: (items: number) => number
  /** Whether a full batch waits for the end of these delays, too: its items may be merged with later ones. Default false. */
  readonly delaysFull?: boolean
  /** Default: all items of the batch fail. */
  readonly onRefused?: (error: unknown, items: readonly Item[]) => Refusal<Item>
  /**
   * A caller waits about this long at most, in milliseconds, and then gets the error; its item stays in its batch. Default: no
   * limit.
   */
  readonly limit?: { readonly timeoutMs: number; readonly late: () => Error }
  readonly clock?: Pick<Clock, 'after'>
}

/** Rounds of the timer within the limit of a caller. With one timer for all, a caller may wait one round less. */
const ROUNDS_PER_LIMIT = 8

/** For batches in which a single item may be invalid: if the server is unavailable, splitting is useless. */
export function splitUnlessAway(error: unknown): 'reject' | 'split' {
  return error instanceof HeddleError && error.disposition === 'retry' ? 'reject' : 'split'
}

/**
 * Collects items and flushes them in batches: one round trip or one transaction for many of them.
 *
 * Items added within one tick, or within `delayMs`, share a batch. While the maximum number of batches is running,
 * further items wait for the next one, so batches grow with the load, and a lone item is not delayed.
 */
export class Gatherer<Item> {
  readonly #options: GathererOptions<Item>
  readonly #clock: Pick<Clock, 'after'>
  readonly #lines = new Map<string, GathererLine<Item>>()
  /** Batches whose flush runs. */
  readonly #batches = new Set<readonly Entry<Item>[]>()
  /** Of the timer of `limit`. */
  #round = 0
  #cancelRound: (() => void) | undefined
  #waiting = 0
  #underWay = 0
  /** Running calls of `flush` and `close`: during these no item waits for others. */
  #hurries = 0
  #whenIdle: (() => void)[] = []

  constructor(options: GathererOptions<Item>) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** Items that are not flushed yet, also those whose callers do not wait any more. */
  get size(): number {
    return this.#waiting + this.#underWay
  }

  /**
   * Resolves once the item has been flushed. An unhandled rejection is ignored.
   *
   * @throws the error of its batch's flush, or of the limit
   */
  add(item: Item): Promise<void> {
    const line = this.#lineOf(this.#options.keyOf?.(item) ?? '')
    const before = line.size
    const settled = line.add(item, this.#round)
    this.#waiting += line.size - before
    this.#limitWaits()
    this.#schedule(line)
    return settled
  }

  /** Resolves once no item waits and no batch runs; starts nothing earlier than otherwise. */
  async whenIdle(): Promise<void> {
    if (this.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
  }

  /** Flushes waiting items and those added meanwhile without further delay. Resolves once no item is left. */
  async flush(): Promise<void> {
    this.#hurries++
    for (const line of this.#lines.values()) this.#schedule(line)
    await this.whenIdle()
    this.#hurries--
  }

  /** Flushes waiting items, with a timeout. Items added later are flushed at the end of their tick. */
  async close({ timeoutMs, late = () => {} }: { timeoutMs: number; late?: () => void }): Promise<void> {
    this.#hurries++
    for (const line of this.#lines.values()) this.#endPause(line)
    await within(this.flush(), { timeoutMs, late, clock: this.#clock })
  }

  #lineOf(key: string): GathererLine<Item> {
    const found = this.#lines.get(key)
    if (found !== undefined) return found
    const line = new GathererLine<Item>(key, this.#options)
    this.#lines.set(key, line)
    this.#pause(line, this.#options.delayMs ?? 0)
    return line
  }

  /** Makes the line wait for more items. */
  #pause(line: GathererLine<Item>, ms: number): void {
    if (ms <= 0 || this.#hurries > 0) return
    line.cancelPause = this.#clock.after(ms, () => {
      line.cancelPause = undefined
      this.#start(line)
    })
  }

  #endPause(line: GathererLine<Item>): void {
    line.cancelPause?.()
    line.cancelPause = undefined
    this.#forgetIdle(line)
  }

  #isDue(line: GathererLine<Item>): boolean {
    const isFull = line.isFull && this.#options.delaysFull !== true
    return line.isReady && (line.cancelPause === undefined || isFull || this.#hurries > 0)
  }

  /** Callers that finish together add within one tick: their items belong into one batch. */
  #schedule(line: GathererLine<Item>): void {
    if (line.isScheduled || !this.#isDue(line)) return
    line.isScheduled = true
    setImmediate(() => {
      line.isScheduled = false
      this.#start(line)
    })
  }

  #start(line: GathererLine<Item>): void {
    if (this.#isDue(line)) {
      this.#endPause(line)
      const batch = line.begin()
      if (batch.length > 0) void this.#run(line, batch)
      // The remaining items may be enough for another concurrent batch.
      this.#schedule(line)
    }
    this.#forgetIdle(line)
  }

  async #run(line: GathererLine<Item>, batch: readonly Entry<Item>[]): Promise<void> {
    this.#waiting -= batch.length
    this.#underWay += batch.length
    this.#batches.add(batch)
    const kept = await this.#flush(line, batch)
    this.#batches.delete(batch)
    this.#underWay -= batch.length
    this.#waiting += kept.length
    line.end(batch, kept)
    if (!line.isFull) this.#pause(line, this.#options.restMs?.(batch.length) ?? 0)
    this.#schedule(line)
    this.#forgetIdle(line)
    if (this.size > 0) return
    this.#cancelRound?.()
    this.#cancelRound = undefined
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  /** One timer for all callers: under load, thousands of them wait. */
  #limitWaits(): void {
    const { limit } = this.#options
    if (limit === undefined || this.#cancelRound !== undefined) return
    this.#cancelRound = this.#clock.after(limit.timeoutMs / ROUNDS_PER_LIMIT, () => {
      // If the event loop was blocked, answers may have arrived unread: they are handled in this iteration.
      const ending = setImmediate(() => this.#endRound(limit.late))
      this.#cancelRound = () => clearImmediate(ending)
    })
  }

  #endRound(late: () => Error): void {
    this.#cancelRound = undefined
    this.#round++
    for (const entry of this.#unsettled()) entry.rejectIfOlder(this.#round - ROUNDS_PER_LIMIT, late)
    if (this.#unsettled().length > 0) this.#limitWaits()
  }

  #unsettled(): Entry<Item>[] {
    const waiting = [...this.#lines.values()].map((line) => line.waiting)
    return [...waiting, ...this.#batches].flatMap((entries) => entries.filter(({ isSettled }) => !isSettled))
  }

  /** @returns the entries to retry */
  async #flush(line: GathererLine<Item>, batch: readonly Entry<Item>[]): Promise<readonly Entry<Item>[]> {
    const items = batch.map(({ item }) => item)
    try {
      await this.#options.flush(items, line.key)
    } catch (error) {
      return await this.#refuse(line, batch, { error, refusal: this.#options.onRefused?.(error, items) ?? 'reject' })
    }
    for (const entry of batch) entry.resolve()
    return []
  }

  async #refuse(
    line: GathererLine<Item>,
    batch: readonly Entry<Item>[],
    { error, refusal }: { readonly error: unknown; readonly refusal: Refusal<Item> },
  ): Promise<readonly Entry<Item>[]> {
    if (refusal === 'split' && batch.length > 1) {
      const middle = Math.ceil(batch.length / 2)
      // In sequence, because the items of a lane keep their order.
      const first = await this.#flush(line, batch.slice(0, middle))
      return [...first, ...(await this.#flush(line, batch.slice(middle)))]
    }
    const kept = typeof refusal === 'function' ? batch.filter(({ item }, index) => !refusal(item, index)) : []
    const behind = refusal === 'reject-waiting' ? line.empty() : []
    this.#waiting -= behind.length
    // If no item is named, all fail: otherwise they would be retried forever.
    const isStuck = kept.length === batch.length
    const again = new Set(isStuck ? [] : kept)
    for (const entry of [...batch, ...behind]) if (!again.has(entry)) entry.reject(error)
    return [...again]
  }

  #forgetIdle(line: GathererLine<Item>): void {
    if (line.isIdle && this.#lines.get(line.key) === line) this.#lines.delete(line.key)
  }
}
