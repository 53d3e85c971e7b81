import type { HeddleEvent } from '@heddle/contracts'
import { within } from '@heddle/runtime'
import type { NewEvent } from './events.js'

/** Events stored in one transaction. */
const EVENTS_AT_ONCE_MAX = 200
/**
 * How long the first event waits for others. Who follows events does not see the difference; whoever asks for one context
 * after the other would find the worker busy with the event of the last one.
 */
export const GATHER_MS = 20
/** So long a worker that closes waits for the last events to be stored: they are hints, and the store may be away. */
export const CLOSE_MS = 1_000

export interface EventLogOptions {
  /** Stores events of a project. */
  append(projectId: string, events: readonly NewEvent[]): Promise<readonly HeddleEvent[]>
  /** Tells those who listen of one that was stored. */
  publish(event: HeddleEvent): Promise<void>
  readonly clock: { after(ms: number, callback: () => void): () => void }
  readonly log: { warn(fields: object, message: string): void }
}

/**
 * Stores and tells the events of a project one batch after the other. Each takes the number after the last under the
 * project's lock: one by one they would wait for each other with a connection each, and jobs would wait for connections.
 */
export class EventLog {
  readonly #options: EventLogOptions
  readonly #waiting = new Map<string, NewEvent[]>()
  /** What begins at once what gathers still. */
  readonly #gathering = new Map<string, () => void>()
  readonly #working = new Set<Promise<void>>()

  constructor(options: EventLogOptions) {
    this.#options = options
  }

  /** Nobody waits for it. What comes while events of the project gather, or are being stored, goes with the next batch. */
  add(projectId: string, event: NewEvent): void {
    const waiting = this.#waiting.get(projectId)
    if (waiting !== undefined) {
      waiting.push(event)
      return
    }
    this.#waiting.set(projectId, [event])
    const cancel = this.#options.clock.after(GATHER_MS, () => this.#begin(projectId))
    this.#gathering.set(projectId, () => {
      cancel()
      this.#begin(projectId)
    })
  }

  /** Stores what is there, within a bound; to be called before the store closes. */
  async close(): Promise<void> {
    for (const begin of [...this.#gathering.values()]) begin()
    const { clock, log } = this.#options
    const late = () => log.warn({ projectIds: [...this.#waiting.keys()] }, 'events were left behind')
    await within(Promise.all(this.#working), { timeoutMs: CLOSE_MS, late, clock })
  }

  #begin(projectId: string): void {
    this.#gathering.delete(projectId)
    const working = this.#work(projectId).finally(() => this.#working.delete(working))
    this.#working.add(working)
  }

  async #work(projectId: string): Promise<void> {
    for (;;) {
      const events = this.#waiting.get(projectId)?.splice(0, EVENTS_AT_ONCE_MAX) ?? []
      if (events.length === 0) break
      await this.#tell(projectId, events)
    }
    this.#waiting.delete(projectId)
  }

  async #tell(projectId: string, events: readonly NewEvent[]): Promise<void> {
    const { append, publish, log } = this.#options
    try {
      const appended = await append(projectId, events)
      await Promise.all(appended.map((event) => publish(event)))
    } catch (error) {
      const subjectIds = events.map(({ subjectId }) => subjectId)
      log.warn({ error, projectId, subjectIds }, 'events were not told')
    }
  }
}
