import { LRUCache } from 'lru-cache'

/** Threads whose latest positions are cached: those to which one client appends within a short time. */
const THREADS_MAX = 10_000

interface Latest {
  /** The latest time that an append proposed. */
  readonly atMs: number
  /** The ordinal after the last message of that append. */
  readonly nextOrdinal: number
  readonly firstOrdinal: number
  readonly firstId: string
}

/**
 * Gives the appends of one client their ordinals. Within one append they count from 0. If the first message of an append
 * is no later than the latest time of the appends before it, its ordinals continue those of the previous append: clocks have
 * a resolution of milliseconds or seconds, and messages that were appended in sequence must not swap because their times are
 * equal.
 */
export class Ordinals {
  // By size: unlike `max` it allocates nothing in advance, and a gateway has a client for each of many projects.
  readonly #latest = new LRUCache<string, Latest>({ maxSize: THREADS_MAX, sizeCalculation: () => 1 })

  /** The latest time that an append to a thread proposed. */
  latestAtMs(threadId: string): number | undefined {
    return this.#latest.get(threadId)?.atMs
  }

  /**
   * @param append `continues`: it is part of a longer sequence, whose ordinals continue regardless of the time
   * @returns the ordinal of the append's first message; the same one if the append is sent again
   */
  next(threadId: string, append: { firstId: string; places: readonly number[]; continues?: boolean }): number {
    const { firstId, places, continues = false } = append
    const [firstAtMs = 0] = places
    const before = this.#latest.get(threadId)
    if (before?.firstId === firstId) return before.firstOrdinal
    const isLater = before === undefined || (!continues && firstAtMs > before.atMs)
    const firstOrdinal = isLater ? 0 : before.nextOrdinal
    this.#latest.set(threadId, {
      atMs: Math.max(places.at(-1) ?? firstAtMs, before?.atMs ?? Number.NEGATIVE_INFINITY),
      nextOrdinal: firstOrdinal + places.length,
      firstOrdinal,
      firstId,
    })
    return firstOrdinal
  }
}
