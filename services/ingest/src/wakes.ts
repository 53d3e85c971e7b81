import type { WakeJob } from '@heddle/contracts'
import type { Clock, Logger } from '@heddle/runtime'

export interface WakesOptions {
  /** Wakes the stages that work on threads. */
  readonly wake: (threads: readonly WakeJob[]) => Promise<void>
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
}

/** Threads that are woken at once within a second; under more load, wakes cost more than they bring. */
export const WAKES_AT_ONCE_MAX = 8
/** Threads that are woken in a second under load, those first that have waited longest. */
export const WAKES_PER_SECOND = 16
/** Whatever the load, a thread waits no longer than this. */
const GATHER_MS_MAX = 30_000
/**
 * A thread that has grown by so many messages meanwhile is worth a wake of its own: on the Postgres backend the wakes of two
 * stages cost about as much as to store twenty messages.
 */
export const MESSAGES_GATHERED_MAX = 500

interface Gathered {
  readonly thread: WakeJob
  readonly sinceMs: number
  readonly messages: number
}

/**
 * Decides when the stages after ingest look at a thread that grew. While few messages come, at once. Under load, threads
 * gather, and one that grew by ten messages meanwhile is looked at once instead of ten times; each second some of them are
 * woken, and all as soon as the load is over.
 *
 * What has gathered when a process dies is woken by the reconciler.
 */
export class Wakes {
  readonly #options: WakesOptions
  readonly #closing = new AbortController()
  /** In the order in which they began to wait. */
  readonly #gathered = new Map<string, Gathered>()
  #second = { number: Number.NaN, appends: 0 }
  /** Since the threads that gather were looked at last. */
  #appends = 0
  #running: Promise<void> | undefined

  constructor(options: WakesOptions) {
    this.#options = options
  }

  /** @returns whether to wake the stages for the thread at once; otherwise they are woken later */
  isDue(thread: WakeJob, messages: number): boolean {
    const nowMs = this.#options.clock.nowMs()
    const isQuiet = this.#countAppend(nowMs) <= WAKES_AT_ONCE_MAX
    const before = this.#gathered.get(thread.threadId)
    const gathered = (before?.messages ?? 0) + messages
    if (gathered >= MESSAGES_GATHERED_MAX || this.#closing.signal.aborted || isQuiet) {
      this.#gathered.delete(thread.threadId)
      return true
    }
    this.#gathered.set(thread.threadId, { thread, sinceMs: before?.sinceMs ?? nowMs, messages: gathered })
    this.#running ??= this.#run()
    return false
  }

  /** Wakes what has gathered. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  /** @returns the appends of this second */
  #countAppend(nowMs: number): number {
    this.#appends++
    const number = Math.floor(nowMs / 1_000)
    if (number !== this.#second.number) this.#second = { number, appends: 0 }
    return ++this.#second.appends
  }

  async #run(): Promise<void> {
    while (this.#gathered.size > 0) {
      this.#appends = 0
      await this.#options.clock.wait(1_000, this.#closing.signal).catch(() => {})
      const threads = this.#takeDue(this.#options.clock.nowMs())
      await this.#options
        .wake(threads)
        .catch((error: unknown) =>
          this.#options.log.warn({ error, threads: threads.length }, 'threads were not woken; the reconciler will'),
        )
    }
    this.#running = undefined
  }

  #takeDue(nowMs: number): WakeJob[] {
    const isOver = this.#appends <= WAKES_AT_ONCE_MAX || this.#closing.signal.aborted
    const due: WakeJob[] = []
    for (const { thread, sinceMs } of this.#gathered.values()) {
      if (!isOver && due.length >= WAKES_PER_SECOND && nowMs - sinceMs < GATHER_MS_MAX) break
      due.push(thread)
    }
    for (const { threadId } of due) this.#gathered.delete(threadId)
    return due
  }
}
