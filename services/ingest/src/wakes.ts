import type { WakeJob } from '@heddle/contracts'
import type { Clock, Logger } from '@heddle/runtime'

export interface WakesOptions {
  /** Wakes the stages that work on threads. */
  readonly wake: (threads: readonly WakeJob[]) => Promise<void>
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
}

/** Threads that are woken at once within a second; under more load, wakes cost more than they bring. */
export const WAKES_AT_ONCE_MAX = 16
/** How long threads gather under load. */
const GATHER_MS = 5_000
/** A thread that has grown by so many messages meanwhile is worth a wake of its own. */
export const MESSAGES_GATHERED_MAX = 100

/**
 * Decides when the stages after ingest look at a thread that grew. While few messages come, at once. Under load, threads
 * gather, and one that grew by ten messages meanwhile is looked at once instead of ten times.
 *
 * What has gathered when a process dies is woken by the reconciler.
 */
export class Wakes {
  readonly #options: WakesOptions
  readonly #closing = new AbortController()
  readonly #gathered = new Map<string, { thread: WakeJob; messages: number }>()
  #second = { number: Number.NaN, wakes: 0 }
  #running: Promise<void> | undefined

  constructor(options: WakesOptions) {
    this.#options = options
  }

  /** @returns whether to wake the stages for the thread at once; otherwise they are woken later */
  isDue(thread: WakeJob, messages: number): boolean {
    const gathered = (this.#gathered.get(thread.threadId)?.messages ?? 0) + messages
    if (gathered >= MESSAGES_GATHERED_MAX || this.#closing.signal.aborted || this.#isQuiet()) {
      this.#gathered.delete(thread.threadId)
      return true
    }
    this.#gathered.set(thread.threadId, { thread, messages: gathered })
    this.#running ??= this.#run()
    return false
  }

  /** Wakes what has gathered. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  #isQuiet(): boolean {
    const number = Math.floor(this.#options.clock.nowMs() / 1_000)
    if (number !== this.#second.number) this.#second = { number, wakes: 0 }
    this.#second.wakes++
    return this.#second.wakes <= WAKES_AT_ONCE_MAX
  }

  async #run(): Promise<void> {
    while (this.#gathered.size > 0) {
      await this.#options.clock.wait(GATHER_MS, this.#closing.signal).catch(() => {})
      const threads = [...this.#gathered.values()].map(({ thread }) => thread)
      this.#gathered.clear()
      await this.#options
        .wake(threads)
        .catch((error: unknown) =>
          this.#options.log.warn({ error, threads: threads.length }, 'threads were not woken; the reconciler will'),
        )
    }
    this.#running = undefined
  }
}
