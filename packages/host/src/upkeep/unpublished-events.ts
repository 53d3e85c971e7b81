import type { Queues } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import { appendUnpublishedEvents, findUnpublishedEvents, type Store, type UnpublishedEvent } from '@heddle/store'

export interface UnpublishedEventsOptions {
  readonly store: Store
  readonly queues: Pick<Queues, 'publish'>
  readonly clock: Pick<Clock, 'nowMs'>
  /** Contexts and snapshots younger than this are left to the worker that made them, in milliseconds. */
  readonly patienceMs: number
}

/** Most events that one run publishes; the next run finds the rest. */
const FOUND_MAX = 1_000
/** How far back the first run of a process looks: longer than a restart takes. */
const LOOK_BACK_MS = 3_600_000
/** Each run starts this long before the end of the previous one: a request from before that end may have finished since. */
const OVERLAP_MS = 120_000

/**
 * Publishes `context.built` and `snapshot.saved` for contexts and snapshots whose worker was killed between the commit and
 * the event, which follows the commit so that nobody waits for it. Several processes may run this at once; each event is
 * published once. See docs/delivery.md#a-worker-is-killed-between-commit-and-event.
 */
export class UnpublishedEvents {
  readonly #options: UnpublishedEventsOptions
  #lookedUntilMs: number | null = null

  constructor(options: UnpublishedEventsOptions) {
    this.#options = options
  }

  /** @returns how many were found */
  async publish(): Promise<number> {
    const { store, clock, patienceMs } = this.#options
    const madeBeforeMs = clock.nowMs() - patienceMs
    const askedAfterMs = this.#lookedUntilMs === null ? madeBeforeMs - LOOK_BACK_MS : this.#lookedUntilMs - OVERLAP_MS
    const found = await findUnpublishedEvents(store, { limit: FOUND_MAX, askedAfterMs, madeBeforeMs })
    for (const [projectId, events] of byProject(found)) await this.#publishOf(projectId, events)
    if (found.length < FOUND_MAX) this.#lookedUntilMs = madeBeforeMs
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
