import type { StageName } from '@heddle/contracts'
import { Gatherer } from '@heddle/runtime'
import type { JobType } from 'bullmq'
import { bounds } from '../base/bounds.js'
import type { BullQueue } from '../base/bull-queue.js'
import { decodePayload } from './payload.js'

/** A job that no worker has begun with, or that waits for its next try. */
export interface WaitingJob {
  readonly stage: StageName
  /** As it lies in the queue: a poisoned one is of any shape. */
  readonly payload: unknown
}

/** Somebody who wants waiting jobs gone, or only counted. */
export interface Remover {
  readonly dryRun: boolean
  isMeant(job: WaitingJob): boolean
  /** How many were found for it so far. */
  found: number
}

/** The waiting jobs of a paused queue have a name of their own. BullMQ's types no longer know it. */
const waitingTypes = ['wait', 'paused', 'delayed', 'prioritized'] as const satisfies readonly string[]

export interface JobRemovalScan {
  readonly queue: Pick<BullQueue, 'getJobCounts' | 'getRanges' | 'getJob' | 'remove'>
  readonly stage: StageName
  readonly removers: readonly Remover[]
  /** Puts a bound on each call of the server. */
  bounded<T>(work: Promise<T>): Promise<T>
}

/**
 * Looks through the waiting and delayed jobs of a queue, page by page, and removes those that any of the removers means. Jobs
 * that come or go meanwhile shift the pages, so it looks again until it finds none; what a worker has taken by then is left to
 * the worker.
 */
export async function scanJobs(look: JobRemovalScan): Promise<void> {
  let { removers } = look
  for (let round = 0; round < bounds.removalRoundsMax; round++) {
    // Nothing waits most of the time, and this is one round trip for all types.
    const counts = await look.bounded(look.queue.getJobCounts(...(waitingTypes as readonly JobType[])))
    if (Object.values(counts).every((count) => count === 0)) return
    let gone = 0
    for (const type of waitingTypes) gone += await lookAtType({ ...look, removers }, type as JobType)
    if (gone === 0) return
    // Who only counts has counted.
    removers = removers.filter(({ dryRun }) => !dryRun)
  }
}

/** @returns how many are gone */
async function lookAtType(look: JobRemovalScan, type: JobType): Promise<number> {
  const { queue, bounded } = look
  let gone = 0
  for (let start = 0; ; ) {
    const ids = await bounded(queue.getRanges([type], start, start + bounds.removalPageJobs - 1))
    if (ids.length === 0) return gone
    const goneHere = (await Promise.all(ids.map((id) => lookAtOne(look, id)))).filter(Boolean).length
    gone += goneHere
    start += ids.length - goneHere
  }
}

/** @returns whether it is gone */
async function lookAtOne({ queue, stage, removers, bounded }: JobRemovalScan, id: string): Promise<boolean> {
  const job = await bounded(queue.getJob(id))
  if (job === undefined) return false
  const waiting = { stage, payload: decodePayload(job.data) }
  const meaning = removers.filter((remover) => remover.isMeant(waiting))
  for (const remover of meaning) if (remover.dryRun) remover.found++
  const removing = meaning.filter(({ dryRun }) => !dryRun)
  if (removing.length === 0 || (await bounded(queue.remove(id))) !== 1) return false
  for (const remover of removing) remover.found++
  return true
}

/**
 * Serves those who want jobs removed, one look at all queues after the other: whoever asks while one is under way shares the
 * next. Each look reads every waiting job, over the few connections on which jobs are also added; as many looks at once as
 * things are erased would keep those who add waiting until they took the server for away.
 */
export class JobRemovals {
  readonly #removers: Gatherer<Remover>

  /** @param look looks through all queues */
  constructor(look: (removers: readonly Remover[]) => Promise<void>) {
    this.#removers = new Gatherer<Remover>({ flush: look })
  }

  /** @returns how many were found */
  async remove(isMeant: Remover['isMeant'], dryRun: boolean): Promise<number> {
    const remover: Remover = { isMeant, dryRun, found: 0 }
    await this.#removers.add(remover)
    return remover.found
  }
}
