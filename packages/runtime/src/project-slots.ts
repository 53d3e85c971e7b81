import type { Clock } from './clock.js'

export interface ProjectSlotsOptions {
  /** What a project may do at once while others do something, too, as long as it asks for no more than this at once. */
  readonly calm: number
  /** What is left of that to a project which asks for more, until less of it waits. */
  readonly crowded: number
  /** What a project may do at once while nobody else does anything. */
  readonly alone: number
  readonly clock: Clock
}

interface Held {
  running: number
  readonly waiting: Set<() => void>
}

/** A project that did something so long ago is nobody's neighbour any more. */
const NEIGHBOUR_MS = 5_000

/**
 * What one project does at once in this process, where work of all projects shares one event loop and a few connections.
 * Further work of the project waits in its own line, and never before that of another project. Where several are at work, who
 * asks for much has fewer slots than who asks for little: the work of the latter is what would be slowed down.
 */
export class ProjectSlots {
  readonly #options: ProjectSlotsOptions
  readonly #held = new Map<string, Held>()
  /** Who came last, and who did last of all others. */
  #last = { project: '', atMs: Number.NEGATIVE_INFINITY }
  #lastOther = this.#last

  constructor(options: ProjectSlotsOptions) {
    this.#options = options
  }

  /** Projects that do something, or wait to. */
  get size(): number {
    return this.#held.size
  }

  /**
   * Waits for a slot of the project.
   *
   * @returns frees the slot; may be called twice
   * @throws the signal's reason, where it is aborted while the caller waits
   */
  async acquire(project: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    this.#note(project)
    const held = this.#held.get(project) ?? { running: 0, waiting: new Set() }
    this.#held.set(project, held)
    if (held.running < this.#slotsOf(project, held.running + held.waiting.size + 1)) held.running++
    else await this.#whenFree(project, held, signal)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      held.running--
      this.#admit(project, held)
    }
  }

  /** Does some work in a slot of the project. */
  async run<T>(project: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(project, signal)
    try {
      return await work()
    } finally {
      release()
    }
  }

  async #whenFree(project: string, held: Held, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        held.waiting.delete(enter)
        if (held.running === 0 && held.waiting.size === 0) this.#held.delete(project)
        reject(signal?.reason)
      }
      const enter = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      held.waiting.add(enter)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  #admit(project: string, held: Held): void {
    for (const enter of held.waiting) {
      if (held.running >= this.#slotsOf(project, held.running + held.waiting.size)) break
      held.waiting.delete(enter)
      held.running++
      enter()
    }
    if (held.running === 0 && held.waiting.size === 0) this.#held.delete(project)
  }

  #note(project: string): void {
    if (this.#last.project !== project) this.#lastOther = this.#last
    this.#last = { project, atMs: this.#options.clock.nowMs() }
  }

  /** @param asked for: what runs and what waits */
  #slotsOf(project: string, asked: number): number {
    const { alone, calm, crowded, clock } = this.#options
    const other = this.#last.project === project ? this.#lastOther : this.#last
    const isAlone = this.#held.size === 1 && clock.nowMs() - other.atMs >= NEIGHBOUR_MS
    if (isAlone) return alone
    return asked > calm ? crowded : calm
  }
}
