import type { Queues } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import { appendUnpublishedEvents, findUnpublishedEvents, type Store, type UnpublishedEvent } from '@heddle/store'

export interface UnpublishedEventsOptions {
  readonly store: Store
  readonly queues: Pick<Queues, 'publish'>
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  /** Contexts and snapshots younger than this are left to the worker that built them, in milliseconds. */
  readonly patienceMs: number
}

/** Most events that one run publishes; the next run finds the rest. */
const FOUND_MAX = 1_000
/** How far back the first run of a process searches: longer than a restart takes, and than any request waits. */
const FULL_SEARCH_MS = 3_600_000
/** How often a run searches that far again: a request that waited longer than the overlap is found by then. */
const FULL_SEARCH_EVERY_MS = 600_000
/** Every other run searches from this long before the end of the previous one: most requests finish within that time. */
const OVERLAP_MS = 120_000

/**
 * Publishes `context.built` and `snapshot.saved` for contexts and snapshots whose worker was killed between the commit and
 * the event, which follows the commit so that nobody waits for it. Several processes may run this at once; each event is
 * published once. See docs/delivery.md#a-worker-is-killed-between-commit-and-event.
 */
export class UnpublishedEvents {
  readonly #options: UnpublishedEventsOptions
  #searchedUntilMs = 0
  #fullSearchAtMs = Number.NEGATIVE_INFINITY

  constructor(options: UnpublishedEventsOptions) {
    this.#options = options
  }

  /** @returns the number of events found */
  async publish(): Promise<number> {
    const { store, clock, patienceMs } = this.#options
    const madeBeforeMs = clock.nowMs() - patienceMs
    const startedAtMs = clock.monotonicMs()
    const isFull = startedAtMs - this.#fullSearchAtMs >= FULL_SEARCH_EVERY_MS
    const askedAfterMs = isFull ? madeBeforeMs - FULL_SEARCH_MS : this.#searchedUntilMs - OVERLAP_MS
    const found = await findUnpublishedEvents(store, { limit: FOUND_MAX, askedAfterMs, madeBeforeMs })
    for (const [projectId, events] of byProject(found)) await this.#publishOf(projectId, events)
    if (found.length < FOUND_MAX) {
      this.#searchedUntilMs = madeBeforeMs
      if (isFull) this.#fullSearchAtMs = startedAtMs
    }
    return found.length
  }

  async #publishOf(projectId: string, events: readonly UnpublishedEvent[]): Promise<void> {
    const { store, queues } = this.#options
    const appended = await store.inProject(projectId, (tx) => appendUnpublishedEvents(tx, { projectId, events }))
    await Promise.all(appended.map((event) => queues.publish(event)))
  }
}

function byProject(events: readonly UnpublishedEvent[]): Map<string, UnpublishedEvent[]> {
  const projects = new Map<string, UnpublishedEvent[]>()
  for (const event of events) {
    const own = projects.get(event.projectId) ?? []
    own.push(event)
    projects.set(event.projectId, own)
  }
  return projects
}
