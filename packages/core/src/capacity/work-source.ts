import type { CapacityPlan } from '@heddle/contracts'
import type { Agenda } from './agenda.js'
import type { Chance } from './chance.js'
import { Durations } from './durations.js'
import type { Pool } from './pool.js'

type Work = CapacityPlan['work'][string]

export interface WorkSourceOptions {
  readonly agenda: Agenda
  readonly work: Work
  readonly pools: ReadonlyMap<string, Pool>
  readonly chance: Chance
}

/** Work of one kind: its arrivals, and their way through the pools. */
export class WorkSource {
  readonly #options: WorkSourceOptions
  /** From the arrival of a piece of work until its last visit is done. */
  readonly latencies = new Durations()
  arrived = 0
  finished = 0
  /** Pieces of work that have arrived and are not finished. */
  open = 0

  constructor(options: WorkSourceOptions) {
    this.#options = options
  }

  start(): void {
    const { perSecond, backlog = 0 } = this.#options.work
    for (let count = 0; count < backlog; count++) this.#arrive()
    if (perSecond !== undefined) this.#scheduleNext(1_000 / perSecond)
  }

  /** Forgets what was counted, but no open work. */
  restart(): void {
    this.arrived = 0
    this.finished = 0
    this.latencies.clear()
  }

  #scheduleNext(meanMs: number): void {
    const { agenda, chance } = this.#options
    agenda.after(meanMs * chance.exponential(), () => {
      this.#arrive()
      this.#scheduleNext(meanMs)
    })
  }

  #arrive(): void {
    const { agenda, chance } = this.#options
    const arrivedMs = agenda.nowMs
    this.arrived++
    this.open++
    this.#beginStep(0, chance.uniform(), () => {
      this.finished++
      this.open--
      this.latencies.add(agenda.nowMs - arrivedMs)
    })
  }

  #beginStep(index: number, shard: number, finish: () => void): void {
    const { work, pools, chance } = this.#options
    const visits = work.steps[index]
    if (visits === undefined) {
      finish()
      return
    }
    let left = visits.length
    const done = () => {
      left--
      if (left === 0) this.#beginStep(index + 1, shard, finish)
    }
    for (const cost of visits) pools.get(cost.pool)?.add({ cost, factor: chance.spread(work.spread), shard, done })
  }
}
