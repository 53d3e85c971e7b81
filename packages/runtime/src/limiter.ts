import { type Clock, systemClock } from './clock.js'
import { within } from './timeout.js'
import { untilStopped } from './until-stopped.js'

export interface LimiterOptions {
  /** Maximum number of permits in use, over all keys. Default: no limit. */
  readonly atOnce?: number
  /**
   * Maximum number of permits in use for one key, computed for each admission. `wanted` counts the permits that the key
   * has and those that it waits for. Default: only `atOnce`.
   */
  readonly atOnceOf?: (key: string, wanted: number) => number
  /** Timeout of waiting for a permit, in milliseconds, and its error. Default: no timeout. */
  readonly deadline?: { readonly timeoutMs: number; readonly error: () => Error }
  readonly clock?: Pick<Clock, 'after'>
}

export interface PermitOptions {
  /** Key of the caller; waiting keys are served round-robin. Default: one key for all callers. */
  readonly key?: string | undefined
  /** Served before all callers without priority. Default false. */
  readonly isFirst?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

interface Lane {
  inUse: number
  /** Admits each waiting caller, in call order. */
  readonly first: Set<() => void>
  readonly others: Set<() => void>
}

/**
 * Limits concurrency; further callers wait. Each key has a lane of its own, and lanes are served round-robin: a key
 * with a thousand callers delays the caller of another key by one permit, not by a thousand.
 */
export class Limiter {
  readonly #options: LimiterOptions
  #inUse = 0
  /** Keys that have permits or wait for some, in the order in which they are served next. */
  readonly #lanes = new Map<string, Lane>()
  readonly #whenIdle: (() => void)[] = []

  constructor(options: LimiterOptions) {
    this.#options = options
  }

  /** Keys that have permits or wait for some. */
  get keys(): number {
    return this.#lanes.size
  }

  /**
   * @returns releases the permit; repeated calls have no effect
   * @throws the timeout error; the signal's reason, if it aborts while the caller waits
   */
  async acquire({ key = '', isFirst = false, signal }: PermitOptions = {}): Promise<() => void> {
    signal?.throwIfAborted()
    const lane = this.#lanes.get(key) ?? { inUse: 0, first: new Set(), others: new Set() }
    this.#lanes.set(key, lane)
    if (waitingIn(lane) === 0 && this.#mayEnter(key, lane, 1)) this.#enter(lane)
    else await this.#wait(key, lane, { isFirst, signal })
    let isInUse = true
    return () => {
      if (isInUse) this.#release(key, lane)
      isInUse = false
    }
  }

  /** Runs work with a permit. */
  async run<T>(work: () => Promise<T>, options?: PermitOptions): Promise<T> {
    const release = await this.acquire(options)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Resolves once no permit is in use. */
  async whenIdle(): Promise<void> {
    if (this.#inUse > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
  }

  async #wait(key: string, lane: Lane, { isFirst, signal }: Pick<PermitOptions, 'isFirst' | 'signal'>): Promise<void> {
    const { deadline, clock = systemClock } = this.#options
    const line = isFirst ? lane.first : lane.others
    let enter = () => {}
    const admitted = new Promise<void>((resolve) => {
      enter = resolve
    })
    line.add(enter)
    this.#admit()
    const admittedOrStopped = signal ? untilStopped(signal, admitted) : admitted
    const late = () => {
      throw deadline?.error()
    }
    try {
      await within(admittedOrStopped, { timeoutMs: deadline?.timeoutMs ?? Number.POSITIVE_INFINITY, late, clock })
    } catch (error) {
      // The abort may come between the admission and its notification: then there is a permit to release.
      if (!line.delete(enter)) this.#release(key, lane)
      else this.#forget(key, lane)
      throw error
    }
  }

  #mayEnter(key: string, lane: Lane, more: number): boolean {
    const { atOnce = Number.POSITIVE_INFINITY, atOnceOf } = this.#options
    if (this.#inUse >= atOnce) return false
    return atOnceOf === undefined || lane.inUse < atOnceOf(key, lane.inUse + waitingIn(lane) + more)
  }

  #enter(lane: Lane): void {
    lane.inUse++
    this.#inUse++
  }

  #release(key: string, lane: Lane): void {
    lane.inUse--
    this.#inUse--
    this.#admit()
    this.#forget(key, lane)
    if (this.#inUse === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  #forget(key: string, lane: Lane): void {
    if (lane.inUse === 0 && waitingIn(lane) === 0 && this.#lanes.get(key) === lane) this.#lanes.delete(key)
  }

  #admit(): void {
    for (let enter = this.#next(); enter !== undefined; enter = this.#next()) enter()
  }

  /** Removes the next admissible caller from its lane, which is then moved to the end. */
  #next(): (() => void) | undefined {
    for (const line of ['first', 'others'] as const) {
      for (const [key, lane] of this.#lanes) {
        const [enter] = lane[line]
        if (enter === undefined || !this.#mayEnter(key, lane, 0)) continue
        lane[line].delete(enter)
        this.#enter(lane)
        this.#lanes.delete(key)
        this.#lanes.set(key, lane)
        return enter
      }
    }
    return undefined
  }
}

function waitingIn(lane: Lane): number {
  return lane.first.size + lane.others.size
}
