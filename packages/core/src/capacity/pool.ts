import type { CapacityPlan, JobCost } from '@heddle/contracts'
import type { Agenda } from './agenda.js'
import { Durations } from './durations.js'
import { Fifo } from './fifo.js'
import type { Server } from './server.js'
import { TimeMean } from './time-mean.js'
import type { Worker } from './worker.js'

/** A job of a pool, with its share of chance. */
export interface PoolJob {
  readonly cost: JobCost
  /** Multiplies the cost. */
  readonly factor: number
  /** From 0 up to 1, exclusive: selects the shard of each server. */
  readonly shard: number
  readonly done: () => void
}

interface Waiting {
  readonly job: PoolJob
  readonly sinceMs: number
}

/** The shards of each server. */
export type Servers = ReadonlyMap<string, readonly Server[]>

/**
 * The jobs of a stage, and the slots of its workers. A slot that becomes free takes what waits, up to a full batch; a job that finds a
 * free slot does not wait for others. Of free slots, the one that has been free for longest is used, so work is spread over the workers.
 */
export class Pool {
  readonly #agenda: Agenda
  readonly #plan: CapacityPlan['pools'][string]
  readonly #servers: Servers
  readonly #waiting = new Fifo<Waiting>()
  readonly #free = new Fifo<Worker>()
  readonly workers: readonly Worker[]
  readonly waiting: TimeMean
  readonly slots: TimeMean
  readonly waits = new Durations()
  readonly services = new Durations()
  batches = 0

  constructor(agenda: Agenda, plan: CapacityPlan['pools'][string], workers: readonly Worker[], servers: Servers) {
    this.#agenda = agenda
    this.#plan = plan
    this.#servers = servers
    this.workers = workers
    this.waiting = new TimeMean(agenda)
    this.slots = new TimeMean(agenda)
    for (let slot = 0; slot < plan.slots; slot++) for (const worker of workers) this.#free.push(worker)
  }

  /** Slots of one worker. */
  get slotsEach(): number {
    return this.#plan.slots
  }

  add(job: PoolJob): void {
    this.#waiting.push({ job, sinceMs: this.#agenda.nowMs })
    this.waiting.add(1)
    const worker = this.#free.shift()
    if (worker !== undefined) this.#begin(worker)
  }

  /** Forgets what was counted. */
  restart(): void {
    this.batches = 0
    for (const each of [this.waits, this.services]) each.clear()
    for (const each of [this.waiting, this.slots, ...this.workers.map(({ thread }) => thread.held)]) each.restart()
  }

  #begin(worker: Worker): void {
    const batch = this.#take()
    const startedMs = this.#agenda.nowMs
    this.slots.add(1)
    const end = () => {
      this.batches++
      this.slots.add(-1)
      for (const { job } of batch) {
        this.services.add(this.#agenda.nowMs - startedMs)
        job.done()
      }
      if (this.#waiting.size === 0) this.#free.push(worker)
      // Batches that take no time would otherwise call one another, ever deeper.
      else if (this.#agenda.nowMs === startedMs) this.#agenda.after(0, () => this.#resume(worker))
      else this.#begin(worker)
    }
    worker.run(this.#costOf(batch), this.#plan.roundTrips, end)
  }

  #resume(worker: Worker): void {
    if (this.#waiting.size === 0) this.#free.push(worker)
    else this.#begin(worker)
  }

  #take(): readonly Waiting[] {
    const batch: Waiting[] = []
    while (batch.length < this.#plan.batchJobsMax) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      this.waits.add(this.#agenda.nowMs - next.sinceMs)
      batch.push(next)
    }
    this.waiting.add(-batch.length)
    return batch
  }

  /** Jobs of one batch use the shard of its first, since only jobs of one project are committed together. */
  #costOf(batch: readonly Waiting[]) {
    const { perBatch } = this.#plan
    let { ownMs, helperMs, waitMs } = perBatch
    const serverMs = new Map(Object.entries(perBatch.serverMs))
    for (const { job } of batch) {
      ownMs += job.cost.ownMs * job.factor
      helperMs += job.cost.helperMs * job.factor
      waitMs += job.cost.waitMs * job.factor
      for (const name in job.cost.serverMs)
        serverMs.set(name, (serverMs.get(name) ?? 0) + (job.cost.serverMs[name] ?? 0) * job.factor)
    }
    const shard = batch[0]?.job.shard ?? 0
    return { ownMs, helperMs, waitMs, serverMs: [...serverMs].flatMap(([name, ms]) => this.#onShard(name, ms, shard)) }
  }

  #onShard(name: string, ms: number, shard: number): [Server, number][] {
    const shards = this.#servers.get(name) ?? []
    const server = shards[Math.floor(shard * shards.length)]
    return server === undefined ? [] : [[server, ms]]
  }
}
