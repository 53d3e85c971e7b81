import type { HeddleEvent } from '@heddle/contracts'
import { type Clock, Gatherer } from '@heddle/runtime'
import type { NewEvent } from './events.js'

/** Events stored in one transaction. */
const EVENTS_AT_ONCE_MAX = 1_000
/**
 * How long the first event waits for more. Subscribers do not notice; without it, a client that requests one context after
 * another would find the worker busy with storing the previous event.
 */
const GATHER_MS = 20
/** A batch with this many events is a sign of load. */
export const EVENTS_UNDER_LOAD = 32
/** A closing worker waits this long for the last events to be stored: they are hints, and the store may be down. */
const CLOSE_MS = 1_000

export interface EventLogOptions {
  /** Stores events of a project. */
  append(projectId: string, events: readonly NewEvent[]): Promise<readonly HeddleEvent[]>
  /** Sends a stored event to subscribers. */
  publish(event: HeddleEvent): Promise<void>
  /** How long the project rests after a batch of {@link EVENTS_UNDER_LOAD} events. Default as after any other. */
  readonly restUnderLoadMs?: number
  readonly clock: Pick<Clock, 'after'>
  readonly log: { warn(fields: object, message: string): void }
}

interface Waiting {
  readonly projectId: string
  readonly event: NewEvent
}

/**
 * Stores and publishes the events of a project one batch after the other. Each takes the number after the last under the
 * project's lock: one by one they would wait for each other with a connection each, and jobs would wait for connections.
 *
 * If a thread grew several times while events gather, only its last head is published.
 */
export class EventLog {
  readonly #options: EventLogOptions
  readonly #waiting: Gatherer<Waiting>

  constructor(options: EventLogOptions) {
    this.#options = options
    const { restUnderLoadMs = GATHER_MS, clock } = options
    this.#waiting = new Gatherer<Waiting>({
      keyOf: ({ projectId }) => projectId,
      itemsMax: EVENTS_AT_ONCE_MAX,
      identityOf: ({ event }) => (event.topic === 'message.stored' ? (event.threadId ?? undefined) : undefined),
      merge: (before, added) => ((added.event.headSeq ?? 0) > (before.event.headSeq ?? 0) ? added : before),
      delayMs: GATHER_MS,
      // Of a thousand threads that grow, a full batch waits at once; it would hold only one message of each.
      delaysFull: true,
      restMs: (events) => (events < EVENTS_UNDER_LOAD ? GATHER_MS : restUnderLoadMs),
      flush: (batch, projectId) => this.#store(projectId, batch),
      clock,
    })
  }

  /**
   * The caller need not wait. An event that cannot be stored is logged. The reconciler publishes `context.built` and
   * `snapshot.saved` later, a thread's next `message.stored` covers a lost one, and a lost `thread.compacted` is not published
   * again: see docs/delivery.md#a-worker-is-killed-between-commit-and-event.
   */
  add(projectId: string, event: NewEvent): void {
    void this.#waiting.add({ projectId, event })
  }

  /** Stores waiting events, within a time limit; to be called before the store closes. */
  async close(): Promise<void> {
    const late = () => this.#options.log.warn({ events: this.#waiting.size }, 'the last events were not stored in time')
    await this.#waiting.close({ timeoutMs: CLOSE_MS, late })
  }

  async #store(projectId: string, batch: readonly Waiting[]): Promise<void> {
    const { append, publish, log } = this.#options
    const events = batch.map(({ event }) => event)
    try {
      const appended = await append(projectId, events)
      await Promise.all(appended.map((event) => publish(event)))
    } catch (error) {
      const subjectIds = events.flatMap(({ subjectId }) => subjectId ?? [])
      log.warn({ error, projectId, events: events.length, subjectIds }, 'storing or publishing events failed')
    }
  }
}
