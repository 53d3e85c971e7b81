import type { Clock } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'

/** The share of the newest duration in the mean: a build that is slow among others says little, a faster one that a delay is over. */
const SLOWER_SHARE = 0.1
const FASTER_SHARE = 0.25
/** Builds differ, and those that begin later slow down the earlier ones: one is on time if twice the mean remains. */
const MARGIN = 2
/** So few builds of a project at once begin without a check: each may be faster than the mean, which is measured by them. */
const UNCHECKED = 4
/** A mean that is older says nothing about the present load. */
const FORGOTTEN_AFTER_MS = 10_000
const PACES_MAX = 10_000

/**
 * The pace at which this process builds contexts of one kind at present.
 *
 * A process with more requests than it can build would otherwise begin each of them as long as its deadline has not passed,
 * and end nearly all of them too late: under twice what it can build, it answers one request in thirty in time. If those that
 * would be late are refused, most of its work is for requests that still wait.
 */
export class BuildPace {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #running = 0
  #meanMs = 0
  #notedAtMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /**
   * Runs a build.
   *
   * @param build receives the time until its deadline that a request needs, in milliseconds; 0 if few others are being built
   */
  async run<T>(build: (neededMs: number) => Promise<T>): Promise<T> {
    const isKnown = this.#clock.monotonicMs() - this.#notedAtMs < FORGOTTEN_AFTER_MS
    const neededMs = this.#running < UNCHECKED || !isKnown ? 0 : this.#meanMs * MARGIN
    this.#running++
    try {
      return await build(neededMs)
    } finally {
      this.#running--
    }
  }

  /** Records the duration of a build. */
  note(durationMs: number): void {
    const nowMs = this.#clock.monotonicMs()
    const isFirst = nowMs - this.#notedAtMs >= FORGOTTEN_AFTER_MS
    const share = isFirst ? 1 : durationMs < this.#meanMs ? FASTER_SHARE : SLOWER_SHARE
    this.#meanMs += share * (durationMs - this.#meanMs)
    this.#notedAtMs = nowMs
  }
}

/**
 * The paces of projects, since the builds of one may wait for a provider that those of another do not use. Contexts that are
 * built elsewhere for their size have one of their own.
 */
export class BuildPaces {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #paces = new LRUCache<string, BuildPace>({ max: PACES_MAX })

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  of(projectId: string, place: 'here' | 'elsewhere'): BuildPace {
    const key = `${projectId} ${place}`
    const pace = this.#paces.get(key) ?? new BuildPace(this.#clock)
    this.#paces.set(key, pace)
    return pace
  }
}
