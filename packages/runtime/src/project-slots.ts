import type { Clock } from './clock.js'
import { Limiter } from './limiter.js'

export interface ProjectSlotsOptions {
  /** What a project may do at once while others do something, too, as long as it asks for no more than this at once. */
  readonly calm: number
  /** What is left of that to a project which asks for more, until less of it waits. */
  readonly crowded: number
  /** What a project may do at once while nobody else does anything. */
  readonly alone: number
  readonly clock: Clock
}

/** A project that did something so long ago is nobody's neighbour any more. */
const NEIGHBOUR_MS = 5_000

/**
 * What one project does at once in this process, where work of all projects shares one event loop and a few connections.
 * Further work of the project waits in its own lane, and never before that of another project. Where several are at work, a
 * project that asks for much has fewer slots than one that asks for little: the work of the latter is what would be slowed down.
 */
export class ProjectSlots {
  readonly #options: ProjectSlotsOptions
  readonly #limiter = new Limiter({ atOnceOf: (project, wanted) => this.#slotsOf(project, wanted) })
  /** The project that came last, and the last one of all others. */
  #last = { project: '', atMs: Number.NEGATIVE_INFINITY }
  #lastOther = this.#last

  constructor(options: ProjectSlotsOptions) {
    this.#options = options
  }

  /** Projects that do something, or wait to. */
  get size(): number {
    return this.#limiter.keys
  }

  /**
   * Waits for a slot of the project.
   *
   * @returns frees the slot; may be called twice
   * @throws the signal's reason, where it is aborted while the caller waits
   */
  async acquire(project: string, signal?: AbortSignal): Promise<() => void> {
    this.#note(project)
    return await this.#limiter.acquire({ key: project, signal })
  }

  /** Does some work in a slot of the project. */
  async run<T>(project: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#note(project)
    return await this.#limiter.run(work, { key: project, signal })
  }

  #note(project: string): void {
    if (this.#last.project !== project) this.#lastOther = this.#last
    this.#last = { project, atMs: this.#options.clock.nowMs() }
  }

  #slotsOf(project: string, wanted: number): number {
    const { alone, calm, crowded, clock } = this.#options
    const other = this.#last.project === project ? this.#lastOther : this.#last
    const isAlone = this.#limiter.keys === 1 && clock.nowMs() - other.atMs >= NEIGHBOUR_MS
    if (isAlone) return alone
    return wanted > calm ? crowded : calm
  }
}
