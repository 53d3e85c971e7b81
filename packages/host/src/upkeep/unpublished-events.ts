import type { Queues } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import { appendUntoldEvents, findUntoldEvents, type Store, type UntoldEvent } from '@heddle/store'

export interface UntoldEventsOptions {
  readonly store: Store
  readonly queues: Pick<Queues, 'publish'>
  readonly clock: Pick<Clock, 'nowMs'>
  /** What was made later may still be told by whoever made it, in milliseconds. */
  readonly patienceMs: number
}

/** A look takes this much; the rest is found by the next. */
const FOUND_MAX = 1_000
/** How far back a process looks that has just begun: longer than a restart takes. */
const LOOK_BACK_MS = 3_600_000
/** Each look begins so long before the end of the one before: what was asked for by then may have been made since. */
const OVERLAP_MS = 120_000

/**
 * Tells of contexts and snapshots whose process ended after it had stored them, and before it could tell: events follow the
 * commit, so that nobody waits for them. Any number of processes may do so at once, and each is told once.
 */
export class UntoldEvents {
  readonly #options: UntoldEventsOptions
  #lookedUntilMs: number | null = null

  constructor(options: UntoldEventsOptions) {
    this.#options = options
  }

  /** @returns how many were told */
  async tell(): Promise<number> {
    const { store, clock, patienceMs } = this.#options
    const madeBeforeMs = clock.nowMs() - patienceMs
    const askedAfterMs = this.#lookedUntilMs === null ? madeBeforeMs - LOOK_BACK_MS : this.#lookedUntilMs - OVERLAP_MS
    const found = await findUntoldEvents(store, { limit: FOUND_MAX, askedAfterMs, madeBeforeMs })
    for (const [projectId, events] of byProject(found)) await this.#tellOf(projectId, events)
    if (found.length < FOUND_MAX) this.#lookedUntilMs = madeBeforeMs
    return found.length
  }

  async #tellOf(projectId: string, events: readonly UntoldEvent[]): Promise<void> {
    const { store, queues } = this.#options
    const appended = await store.inProject(projectId, (tx) => appendUntoldEvents(tx, { projectId, events }))
    await Promise.all(appended.map((event) => queues.publish(event)))
  }
}

function byProject(events: readonly UntoldEvent[]): Map<string, UntoldEvent[]> {
  const projects = new Map<string, UntoldEvent[]>()
  for (const event of events) {
    const own = projects.get(event.projectId) ?? []
    own.push(event)
    projects.set(event.projectId, own)
  }
  return projects
}
