import type { Clock } from '@heddle/runtime'
import type { NewEvent } from '@heddle/store'

/** Events stored in one transaction. */
const EVENTS_AT_ONCE_MAX = 200
/**
 * How long the first event waits for others. Who follows events does not see the difference; whoever asks for one context
 * after the other would find the worker busy with the event of the last one.
 */
export const GATHER_MS = 20

/**
 * Stores the events of a project one batch after the other. Each takes the number after the last under the project's lock:
 * one by one they would wait for each other with a connection each, and builds would wait for connections.
 */
export class EventLog {
  readonly #append: (projectId: string, events: readonly NewEvent[]) => Promise<void>
  readonly #clock: Pick<Clock, 'after'>
  readonly #waiting = new Map<string, NewEvent[]>()
  /** What begins at once what gathers still. */
  readonly #gathering = new Map<string, () => void>()
  readonly #working = new Set<Promise<void>>()

  /** @param append stores and publishes; it tells of its failures itself */
  constructor(append: (projectId: string, events: readonly NewEvent[]) => Promise<void>, clock: Pick<Clock, 'after'>) {
    this.#append = append
    this.#clock = clock
  }

  /** Nobody waits for it. What comes while events of the project gather, or are being stored, goes with the next batch. */
  add(projectId: string, event: NewEvent): void {
    const waiting = this.#waiting.get(projectId)
    if (waiting !== undefined) {
      waiting.push(event)
      return
    }
    this.#waiting.set(projectId, [event])
    const callOff = this.#clock.after(GATHER_MS, () => this.#begin(projectId))
    this.#gathering.set(projectId, () => {
      callOff()
      this.#begin(projectId)
    })
  }

  /** Stores what is there; to be called before the store closes. */
  async close(): Promise<void> {
    for (const begin of [...this.#gathering.values()]) begin()
    await Promise.all(this.#working)
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
      await this.#append(projectId, events)
    }
    this.#waiting.delete(projectId)
  }
}
