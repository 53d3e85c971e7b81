import type { Clock } from './clock.js'
import { Limiter } from './limiter.js'

export interface ProjectSlotsOptions {
  /** Slots of a project beside other active projects, as long as it needs no more than this. */
  readonly calm: number
  /** Slots of a project that needs more, until fewer of its callers wait. */
  readonly crowded: number
  /** Slots of a project while no other is active. */
  readonly alone: number
  readonly clock: Clock
}

/** Time after which a project no longer counts as active. */
const NEIGHBOUR_MS = 5_000

/**
 * Limits the concurrency of each project in this process, where the work of all projects shares one event loop and a
 * few connections. Further work of the project waits in its own lane, and never delays that of another project. If
 * several are active, a project with much work has fewer slots than one with little, whose work would otherwise be
 * slowed down.
 */
export class ProjectSlots {
  readonly #options: ProjectSlotsOptions
  readonly #limiter = new Limiter({ atOnceOf: (project, wanted) => this.#slotsOf(project, wanted) })
  /** The latest project, and the latest other one. */
  #last = { project: '', atMs: Number.NEGATIVE_INFINITY }
  #lastOther = this.#last

  constructor(options: ProjectSlotsOptions) {
    this.#options = options
  }

  /** Number of projects with slots in use or waiting callers. */
  get size(): number {
    return this.#limiter.keys
  }

  /**
   * Waits for a slot of the project.
   *
   * @returns frees the slot; may be called twice
   * @throws the signal's reason, if it aborts while the caller waits
   */
  async acquire(project: string, signal?: AbortSignal): Promise<() => void> {
    this.#note(project)
    return await this.#limiter.acquire({ key: project, signal })
  }

  /** Runs work in a slot of the project. */
  async run<T>(project: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#note(project)
    return await this.#limiter.run(work, { key: project, signal })
  }

  #note(project: string): void {
    if (this.#last.project !== project) this.#lastOther = this.#last
    this.#last = { project, atMs: this.#options.clock.monotonicMs() }
  }

  #slotsOf(project: string, wanted: number): number {
    const { alone, calm, crowded, clock } = this.#options
    const other = this.#last.project === project ? this.#lastOther : this.#last
    const isAlone = this.#limiter.keys === 1 && clock.monotonicMs() - other.atMs >= NEIGHBOUR_MS
    if (isAlone) return alone
    return wanted > calm ? crowded : calm
  }
}
