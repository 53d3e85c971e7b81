import { within } from '@heddle/runtime'
import type { Accesses } from './archive.js'

export interface AccessLogOptions {
  readonly write: (projectId: string, accesses: readonly Accesses[]) => Promise<void>
  readonly log?: { debug(fields: object, message: string): void }
  /** Milliseconds since 1970. Default the system's clock. */
  readonly nowMs?: () => number
  /** How long accesses are gathered before they are written, in milliseconds. Default 1,000. */
  readonly delayMs?: number
}

const DELAY_MS_DEFAULT = 1_000
/** Entries that wait to be counted, over all projects. While the server is away further ones are not counted. */
const ENTRIES_MAX = 10_000

/**
 * Gathers which archive entries were read and counts them together, so that no reader waits for a write, and none fails
 * because of one. Counts are there to tell what is in use: those that cannot be written are lost, and nobody is stopped.
 */
export class AccessLog {
  readonly #options: AccessLogOptions
  #waiting = new Map<string, Map<string, Accesses>>()
  #entries = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: AccessLogOptions) {
    this.#options = options
  }

  note(projectId: string, id: string): void {
    const entries = this.#waiting.get(projectId) ?? new Map<string, Accesses>()
    const before = entries.get(id)
    if (!before && this.#entries >= ENTRIES_MAX) return
    if (!before) this.#entries++
    const { nowMs = Date.now } = this.#options
    entries.set(id, { id, count: (before?.count ?? 0) + 1, lastAtMs: nowMs() })
    this.#waiting.set(projectId, entries)
    // The process may end without waiting for it: closing writes what is left.
    this.#timer ??= setTimeout(() => void this.flush(), this.#options.delayMs ?? DELAY_MS_DEFAULT).unref()
  }

  /** Resolves when all that was noted is counted, or given up; never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#waiting
    this.#waiting = new Map()
    this.#entries = 0
    this.#writing = this.#writing.then(() => this.#write(batch))
    return this.#writing
  }

  async close(timeoutMs: number): Promise<void> {
    await within(this.flush(), { timeoutMs, late: () => {} })
  }

  async #write(batch: ReadonlyMap<string, ReadonlyMap<string, Accesses>>): Promise<void> {
    for (const [projectId, entries] of batch) {
      try {
        await this.#options.write(projectId, [...entries.values()])
      } catch (error) {
        this.#options.log?.debug({ error, projectId, entries: entries.size }, 'recalls were not counted')
      }
    }
  }
}
