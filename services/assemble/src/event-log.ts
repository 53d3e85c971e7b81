import type { NewEvent } from '@heddle/store'

/** Events stored in one transaction. */
const EVENTS_AT_ONCE_MAX = 200

/**
 * Stores the events of a project one batch after the other. Each takes the number after the last under the project's lock:
 * one by one they would wait for each other with a connection each, and builds would wait for connections.
 */
export class EventLog {
  readonly #append: (projectId: string, events: readonly NewEvent[]) => Promise<void>
  readonly #waiting = new Map<string, NewEvent[]>()

  /** @param append stores and publishes; it tells of its failures itself */
  constructor(append: (projectId: string, events: readonly NewEvent[]) => Promise<void>) {
    this.#append = append
  }

  /** Nobody waits for it. What comes while events of the project are being stored goes with the next batch. */
  add(projectId: string, event: NewEvent): void {
    const waiting = this.#waiting.get(projectId)
    if (waiting !== undefined) {
      waiting.push(event)
      return
    }
    this.#waiting.set(projectId, [event])
    void this.#work(projectId)
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
