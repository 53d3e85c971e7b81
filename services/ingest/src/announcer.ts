import type { Clock, Logger } from '@heddle/runtime'

/** What subscribers are told of one project: the threads that grew, each with its head. */
export type Tell = (projectId: string, heads: ReadonlyMap<string, number>) => Promise<void>

/**
 * How long what is told of a project gathers. Who follows events does not see the difference; who asks for a context of what
 * was just stored would find worker and database busy with telling of it.
 */
export const GATHER_MS = 20
/** So many threads told at once are a sign of load. */
const THREADS_UNDER_LOAD = 32
/** How long it gathers besides under load. */
export const GATHER_UNDER_LOAD_MS = 1_000

/**
 * Tells subscribers which threads grew, a moment after the commit and in the time of nobody who waits for it. Meanwhile, while
 * one telling of a project is under way, and for a second after one of many threads, what comes gathers: of a thread that
 * grew often, only the last head is told.
 */
export class Announcer {
  readonly #tell: Tell
  readonly #log: Pick<Logger, 'warn'>
  readonly #clock: Pick<Clock, 'wait'>
  readonly #closing = new AbortController()
  readonly #heads = new Map<string, Map<string, number>>()
  readonly #running = new Map<string, Promise<void>>()

  constructor(tell: Tell, { log, clock }: { log: Pick<Logger, 'warn'>; clock: Pick<Clock, 'wait'> }) {
    this.#tell = tell
    this.#log = log
    this.#clock = clock
  }

  announce(projectId: string, threadId: string, headSeq: number): void {
    const heads = this.#heads.get(projectId) ?? new Map<string, number>()
    this.#heads.set(projectId, heads.set(threadId, Math.max(headSeq, heads.get(threadId) ?? 0)))
    if (!this.#running.has(projectId)) this.#running.set(projectId, this.#run(projectId))
  }

  /** Tells what has gathered. */
  async close(): Promise<void> {
    this.#closing.abort()
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  async #run(projectId: string): Promise<void> {
    for (;;) {
      await this.#wait(GATHER_MS)
      const heads = this.#heads.get(projectId)
      if (heads === undefined) break
      this.#heads.delete(projectId)
      await this.#tell(projectId, heads).catch((error: unknown) =>
        this.#log.warn({ error, projectId }, 'events were not told'),
      )
      if (heads.size >= THREADS_UNDER_LOAD) await this.#wait(GATHER_UNDER_LOAD_MS)
    }
    this.#running.delete(projectId)
  }

  /** Not where it closes. */
  async #wait(ms: number): Promise<void> {
    await this.#clock.wait(ms, this.#closing.signal).catch(() => {})
  }
}
