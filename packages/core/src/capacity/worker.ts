import type { JobCost } from '@heddle/contracts'
import type { Agenda } from './agenda.js'
import type { Machine } from './machine.js'
import { Places } from './places.js'
import type { Server } from './server.js'

/** A batch's cost, with the servers on which it runs. */
export interface BatchCost extends Pick<JobCost, 'ownMs' | 'helperMs' | 'waitMs'> {
  readonly serverMs: readonly (readonly [Server, number])[]
}

/**
 * A process of a pool. Its thread computes for one batch at a time; while that waits for a server or for something without a processor,
 * the thread computes for others.
 */
export class Worker {
  readonly #agenda: Agenda
  readonly #machine: Machine
  readonly #helper: Places
  readonly thread: Places

  constructor(agenda: Agenda, machine: Machine) {
    this.#agenda = agenda
    this.#machine = machine
    this.thread = new Places(agenda, 1)
    this.#helper = new Places(agenda, 1)
  }

  /** A batch computes, waits for each of its servers, and waits otherwise, and that as often as it has round trips. */
  run(batch: BatchCost, roundTrips: number, done: () => void): void {
    const { ownMs, helperMs, waitMs, serverMs } = batch
    this.#compute(this.#helper, helperMs, () => {})
    const begin = (round: number): void => {
      if (round === roundTrips) done()
      else this.#compute(this.thread, ownMs / roundTrips, () => visit(round, 0))
    }
    const visit = (round: number, index: number): void => {
      const next = serverMs[index]
      if (next === undefined) {
        this.#wait(waitMs / roundTrips, () => begin(round + 1))
        return
      }
      const [server, ms] = next
      server.execute(ms / roundTrips, () => visit(round, index + 1))
    }
    begin(0)
  }

  #compute(thread: Places, ms: number, done: () => void): void {
    if (ms === 0) {
      done()
      return
    }
    thread.hold(() =>
      this.#machine.run(ms, () => {
        thread.release()
        done()
      }),
    )
  }

  #wait(ms: number, done: () => void): void {
    if (ms === 0) done()
    else this.#agenda.after(ms, done)
  }
}
