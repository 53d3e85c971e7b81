import type { StageName } from '@heddle/contracts'
import type { JobType } from 'bullmq'
import { bounds } from './bounds.js'
import { decodePayload } from './payload.js'
import type { BullQueue } from './stage-queue.js'

/** A job that no worker has begun with, or that waits for its next try. */
export interface WaitingJob {
  readonly stage: StageName
  /** As it lies in the queue: a poisoned one is of any shape. */
  readonly payload: unknown
}

/** The waiting jobs of a paused queue have a name of their own. BullMQ's types no longer know it. */
const waitingTypes = ['wait', 'paused', 'delayed', 'prioritized'] as const satisfies readonly string[]

export interface JobRemoval {
  readonly queue: BullQueue
  readonly stage: StageName
  isMeant(job: WaitingJob): boolean
  /** Only count them. */
  readonly dryRun: boolean
  /** Puts a bound on each call of the server. */
  bounded<T>(work: Promise<T>): Promise<T>
}

/**
 * Looks through the waiting and delayed jobs of a queue, page by page, and removes those that are meant. Jobs that come or go
 * meanwhile shift the pages, so it looks again until it finds none; what a worker has taken by then is left to the worker.
 *
 * @returns how many were found
 */
export async function removeWaitingJobs(removal: JobRemoval): Promise<number> {
  let found = 0
  for (let round = 0; round < bounds.removalRoundsMax; round++) {
    let foundNow = 0
    for (const type of waitingTypes) foundNow += await removeOfType(removal, type as JobType)
    found += foundNow
    if (foundNow === 0 || removal.dryRun) break
  }
  return found
}

async function removeOfType(removal: JobRemoval, type: JobType): Promise<number> {
  const { queue, bounded } = removal
  let found = 0
  for (let start = 0; ; ) {
    const ids = await bounded(queue.getRanges([type], start, start + bounds.removalPageJobs - 1))
    if (ids.length === 0) return found
    const gone = (await Promise.all(ids.map((id) => removeOne(removal, id)))).filter((isGone) => isGone).length
    found += gone
    start += removal.dryRun ? ids.length : ids.length - gone
  }
}

async function removeOne({ queue, stage, isMeant, dryRun, bounded }: JobRemoval, id: string): Promise<boolean> {
  const job = await bounded(queue.getJob(id))
  if (job === undefined || !isMeant({ stage, payload: decodePayload(job.data) })) return false
  if (dryRun) return true
  return (await bounded(queue.remove(id))) === 1
}
