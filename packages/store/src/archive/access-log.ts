import { type Clock, Gatherer, systemClock } from '@heddle/runtime'
import type { Accesses } from './archive.js'

export interface AccessLogOptions {
  readonly write: (projectId: string, accesses: readonly Accesses[]) => Promise<void>
  readonly log?: { debug(fields: object, message: string): void }
  readonly clock?: Pick<Clock, 'nowMs' | 'after'>
}

/** How long accesses are collected before they are written, in milliseconds. Default 1,000. */
const GATHER_MS = 1_000
/** Most entries that wait to be counted, over all projects. While the server is away, further ones are not counted. */
const ENTRIES_MAX = 10_000

interface Noted extends Accesses {
  readonly projectId: string
}

/**
 * Collects which archive entries were read and counts them together: no reader waits for a write or fails because of one.
 * The counts only show what is in use, so counts that cannot be written are dropped.
 */
export class AccessLog {
  readonly #options: AccessLogOptions
  readonly #noted: Gatherer<Noted>

  constructor(options: AccessLogOptions) {
    this.#options = options
    this.#noted = new Gatherer<Noted>({
      identityOf: ({ projectId, id }) => `${projectId} ${id}`,
      merge: (before, { lastAtMs }) => ({ ...before, count: before.count + 1, lastAtMs }),
      delayMs: GATHER_MS,
      restMs: () => GATHER_MS,
      flush: (batch) => this.#write(batch),
      clock: options.clock,
    })
  }

  note(projectId: string, id: string): void {
    if (this.#noted.size >= ENTRIES_MAX) return
    const { clock = systemClock } = this.#options
    void this.#noted.add({ projectId, id, count: 1, lastAtMs: clock.nowMs() })
  }

  /** Writes what was noted, within a bound; never rejects. */
  async close(timeoutMs: number): Promise<void> {
    await this.#noted.close({ timeoutMs })
  }

  async #write(batch: readonly Noted[]): Promise<void> {
    const byProject = new Map<string, Accesses[]>()
    for (const { projectId, ...accesses } of batch) {
      const others = byProject.get(projectId)
      if (others === undefined) byProject.set(projectId, [accesses])
      else others.push(accesses)
    }
    // One after the other: they are in no hurry, and connections are few.
    for (const [projectId, accesses] of byProject) {
      try {
        await this.#options.write(projectId, accesses)
      } catch (error) {
        this.#options.log?.debug({ error, projectId, entries: accesses.length }, 'recalls were not counted')
      }
    }
  }
}
