import type { Logger } from '@heddle/runtime'

/** What subscribers are told of one project: the threads that grew, each with its head. */
export type Tell = (projectId: string, heads: ReadonlyMap<string, number>) => Promise<void>

/**
 * Tells subscribers which threads grew, after the commit and in the time of nobody who waits for it. While one telling of a
 * project is under way, what comes after it gathers: of a thread that grew often, only the last head is told.
 */
export class Announcer {
  readonly #tell: Tell
  readonly #log: Pick<Logger, 'warn'>
  readonly #heads = new Map<string, Map<string, number>>()
  readonly #running = new Map<string, Promise<void>>()

  constructor(tell: Tell, log: Pick<Logger, 'warn'>) {
    this.#tell = tell
    this.#log = log
  }

  announce(projectId: string, threadId: string, headSeq: number): void {
    const heads = this.#heads.get(projectId) ?? new Map<string, number>()
    this.#heads.set(projectId, heads.set(threadId, Math.max(headSeq, heads.get(threadId) ?? 0)))
    if (!this.#running.has(projectId)) this.#running.set(projectId, this.#run(projectId))
  }

  /** Resolves once everything was told. */
  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  async #run(projectId: string): Promise<void> {
    for (let heads = this.#heads.get(projectId); heads !== undefined; heads = this.#heads.get(projectId)) {
      this.#heads.delete(projectId)
      await this.#tell(projectId, heads).catch((error: unknown) =>
        this.#log.warn({ error, projectId }, 'events were not told'),
      )
    }
    this.#running.delete(projectId)
  }
}
