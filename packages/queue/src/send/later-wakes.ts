import { AsyncResource } from 'node:async_hooks'
import type { WakeStageName } from '@heddle/contracts'
import { type Clock, currentTrace } from '@heddle/runtime'
import { mergeCarriers } from './carrier.js'
import type { TracedWake } from './wakes.js'

export interface LaterWakesOptions {
  /** Wakes stages for a thread. Must not throw. */
  readonly wake: (thread: TracedWake, stages: readonly WakeStageName[]) => void
  readonly clock: Pick<Clock, 'after'>
}

/** In milliseconds: a caller that requests a context after its append does so within this time. */
export const REST_MS = 25
/** In milliseconds, for as long as contexts of the thread are under way. */
export const HELD_MS_MAX = 1_000

interface LaterWake {
  readonly thread: TracedWake
  readonly stages: readonly WakeStageName[]
  /** Whether only the contexts of the thread keep it waiting. */
  readonly isRested: boolean
  readonly cancel: () => void
  /** Wakes it, in the trace of its append also where a context of another trace ends the wait. */
  readonly wake: () => void
}

/**
 * Wakes the stages of a thread a little after an append, and not before the contexts of the thread that are under way are
 * built: stages that begin at the moment of the append take processors and connections from the caller's next request.
 *
 * Threads that {@link Wakes} gathers under load do not come here.
 *
 * If the process dies, the reconciler wakes the threads that waited.
 */
export class LaterWakes {
  readonly #options: LaterWakesOptions
  readonly #waiting = new Map<string, LaterWake>()
  /** Contexts under way, by thread. */
  readonly #held = new Map<string, number>()
  #isClosed = false

  constructor(options: LaterWakesOptions) {
    this.#options = options
  }

  add(thread: TracedWake, stages: readonly WakeStageName[]): void {
    const { wake, clock } = this.#options
    const { threadId } = thread
    if (this.#isClosed) {
      wake(thread, stages)
      return
    }
    const carrier = thread.carrier ?? currentTrace()
    const before = this.#waiting.get(threadId)
    if (before === undefined) {
      const cancel = clock.after(REST_MS, () => this.#onRested(threadId))
      const bound = AsyncResource.bind(() => this.#wake(threadId))
      this.#waiting.set(threadId, { thread: traced(thread, carrier), stages, isRested: false, cancel, wake: bound })
      return
    }
    this.#waiting.set(threadId, {
      ...before,
      thread: traced(thread, mergeCarriers([before.thread.carrier, carrier])),
      stages: [...new Set([...before.stages, ...stages])],
    })
  }

  /** Keeps the stages of a thread waiting while a context of it is under way. @returns ends it */
  hold(threadId: string): () => void {
    this.#held.set(threadId, (this.#held.get(threadId) ?? 0) + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = (this.#held.get(threadId) ?? 1) - 1
      if (left > 0) {
        this.#held.set(threadId, left)
        return
      }
      this.#held.delete(threadId)
      const waiting = this.#waiting.get(threadId)
      if (waiting?.isRested) waiting.wake()
    }
  }

  /** Wakes all threads that wait, and later ones at once. */
  close(): void {
    this.#isClosed = true
    for (const waiting of [...this.#waiting.values()]) waiting.wake()
  }

  #onRested(threadId: string): void {
    const waiting = this.#waiting.get(threadId)
    if (waiting === undefined) return
    if (this.#held.has(threadId)) {
      const cancel = this.#options.clock.after(HELD_MS_MAX - REST_MS, () => this.#wake(threadId))
      this.#waiting.set(threadId, { ...waiting, isRested: true, cancel })
      return
    }
    this.#wake(threadId)
  }

  #wake(threadId: string): void {
    const waiting = this.#waiting.get(threadId)
    if (waiting === undefined) return
    this.#waiting.delete(threadId)
    waiting.cancel()
    this.#options.wake(waiting.thread, waiting.stages)
  }
}

function traced(thread: TracedWake, carrier: string | undefined): TracedWake {
  return carrier === undefined ? thread : { ...thread, carrier }
}
