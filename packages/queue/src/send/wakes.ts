import { AsyncResource } from 'node:async_hooks'
import type { WakeJob } from '@heddle/contracts'
import { type Clock, currentTrace, type Logger } from '@heddle/runtime'
import { mergeCarriers } from './carrier.js'

export interface WakesOptions {
  /** Wakes the stages that work on threads. */
  readonly wake: (threads: readonly TracedWake[]) => Promise<void>
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
}

/** Threads that are woken at once within a second; under more load wake-ups cost more than they save. */
export const WAKES_AT_ONCE_MAX = 2
/** Timer runs per second, so that the end of a load is noticed soon. */
export const TICKS_PER_SECOND = 4
/** Most threads that the timer wakes at a time under load, longest waiting first. */
export const WAKES_PER_TICK = 4
/** With more appends than this between two runs of the timer, the load continues. */
const APPENDS_UNDER_LOAD = 2
/** Under load, a thread that grew by fewer than {@link MESSAGES_WORTH_A_WAKE} messages waits at least this long. */
export const GATHER_MS_MIN = 10_000
/** Waking two stages for a thread costs about as much as storing this number of messages. */
export const MESSAGES_WORTH_A_WAKE = 20
/** A thread waits at most this long, under any load. */
const GATHER_MS_MAX = 30_000
/** A thread that has grown by this number of messages is woken at once. */
export const MESSAGES_GATHERED_MAX = 500

/** A thread to wake, with the traces of the appends that gathered for it. */
export interface TracedWake extends WakeJob {
  readonly carrier?: string | undefined
}

interface Gathered {
  readonly thread: TracedWake
  readonly sinceMs: number
  readonly messages: number
}

/**
 * Decides when to wake the stages after ingest for a thread that grew. With few appends, each wakes them at once. Under load,
 * threads gather, so that a thread with ten appends is woken once instead of ten times: a timer wakes up to
 * {@link WAKES_PER_TICK} threads that grew enough or waited long enough, and all threads when the load is over.
 *
 * If the process dies, the reconciler wakes the threads that had gathered.
 */
export class Wakes {
  readonly #options: WakesOptions
  readonly #closing = new AbortController()
  /** In the trace of none of the appends: threads of other appends are woken by the same timer. */
  readonly #traceless = new AsyncResource('Wakes')
  /** Threads that wait for a wake, longest waiting first. */
  readonly #gathered = new Map<string, Gathered>()
  #second = { number: Number.NaN, appends: 0, isAfterMany: false }
  /** Appends since the last timer run. */
  #appends = 0
  #running: Promise<void> | undefined

  constructor(options: WakesOptions) {
    this.#options = options
  }

  /**
   * @returns the thread if its stages are to be woken at once, with the traces of the appends before it; otherwise null, and
   *   they are woken later
   */
  due(thread: WakeJob, messages: number): TracedWake | null {
    const nowMs = this.#options.clock.monotonicMs()
    const isQuiet = this.#countAppend(nowMs)
    const before = this.#gathered.get(thread.threadId)
    const gathered = (before?.messages ?? 0) + messages
    const carrier = mergeCarriers([before?.thread.carrier, currentTrace()])
    const traced = carrier === undefined ? thread : { ...thread, carrier }
    if (gathered >= MESSAGES_GATHERED_MAX || this.#closing.signal.aborted || isQuiet) {
      this.#gathered.delete(thread.threadId)
      return traced
    }
    this.#gathered.set(thread.threadId, { thread: traced, sinceMs: before?.sinceMs ?? nowMs, messages: gathered })
    this.#running ??= this.#traceless.runInAsyncScope(() => this.#run())
    return null
  }

  /** Wakes the gathered threads. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  /** @returns whether few appends came in this second and in the one before */
  #countAppend(nowMs: number): boolean {
    this.#appends++
    const number = Math.floor(nowMs / 1_000)
    if (number !== this.#second.number) {
      const isAfterMany = number === this.#second.number + 1 && this.#second.appends > WAKES_AT_ONCE_MAX
      this.#second = { number, appends: 0, isAfterMany }
    }
    this.#second.appends++
    return this.#second.appends <= WAKES_AT_ONCE_MAX && !this.#second.isAfterMany
  }

  async #run(): Promise<void> {
    while (this.#gathered.size > 0) {
      this.#appends = 0
      await this.#options.clock.wait(1_000 / TICKS_PER_SECOND, this.#closing.signal).catch(() => {})
      const threads = this.#takeDue(this.#options.clock.monotonicMs())
      if (threads.length === 0) continue
      await this.#options
        .wake(threads)
        .catch((error: unknown) =>
          this.#options.log.warn({ error, threads: threads.length }, 'threads were not woken; the reconciler will'),
        )
    }
    this.#running = undefined
  }

  #takeDue(nowMs: number): TracedWake[] {
    const isOver = this.#appends <= APPENDS_UNDER_LOAD || this.#closing.signal.aborted
    const due: TracedWake[] = []
    for (const { thread, sinceMs, messages } of this.#gathered.values()) {
      const waitedMs = nowMs - sinceMs
      const isWorthIt = messages >= MESSAGES_WORTH_A_WAKE || waitedMs >= GATHER_MS_MIN
      if (isOver || waitedMs >= GATHER_MS_MAX || (isWorthIt && due.length < WAKES_PER_TICK)) due.push(thread)
    }
    for (const { threadId } of due) this.#gathered.delete(threadId)
    return due
  }
}
