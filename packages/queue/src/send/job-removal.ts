import type { StageName } from '@heddle/contracts'
import { Gatherer } from '@heddle/runtime'
import type { JobType } from 'bullmq'
import { bounds } from '../base/bounds.js'
import { decodePayload } from './payload.js'
import type { TextQueue } from './text-queue.js'

/** A job that no worker has begun, or that waits for its next attempt. */
export interface WaitingJob {
  readonly stage: StageName
  /** As in the queue: a malformed one has any shape. */
  readonly payload: unknown
}

/** A request to remove waiting jobs, or only to count them. */
export interface Remover {
  readonly dryRun: boolean
  isMeant(job: WaitingJob): boolean
  /** Number of jobs found so far. */
  found: number
}

/** The waiting jobs of a paused queue have the type `paused`, which BullMQ's types no longer include. */
const waitingTypes = ['wait', 'paused', 'delayed', 'prioritized'] as const satisfies readonly string[]

export interface JobRemovalScan {
  readonly queue: Pick<TextQueue, 'getJobCounts' | 'getRanges' | 'getJob' | 'remove'>
  readonly stage: StageName
  readonly removers: readonly Remover[]
  /** Adds a time limit to a call of the server. */
  bounded<T>(work: Promise<T>): Promise<T>
}

/**
 * Scans the waiting and delayed jobs of a queue, page by page, and removes those that match any of the removers. Jobs that
 * are added or fetched meanwhile shift the pages, so the scan is repeated until it removes none; jobs that a worker has
 * fetched by then stay.
 */
export async function scanJobs(scan: JobRemovalScan): Promise<void> {
  let { removers } = scan
  for (let round = 0; round < bounds.removalRoundsMax; round++) {
    // Most of the time no job waits, which one round trip shows for all types.
    const counts = await scan.bounded(scan.queue.getJobCounts(...(waitingTypes as readonly JobType[])))
    if (Object.values(counts).every((count) => count === 0)) return
    let gone = 0
    for (const type of waitingTypes) gone += await scanType({ ...scan, removers }, type as JobType)
    if (gone === 0) return
    // One pass is enough for a dry run.
    removers = removers.filter(({ dryRun }) => !dryRun)
  }
}

/** @returns the number of removed jobs */
async function scanType(scan: JobRemovalScan, type: JobType): Promise<number> {
  const { queue, bounded } = scan
  let gone = 0
  for (let start = 0; ; ) {
    const ids = await bounded(queue.getRanges([type], start, start + bounds.removalPageJobs - 1))
    if (ids.length === 0) return gone
    const goneHere = (await Promise.all(ids.map((id) => removeIfMeant(scan, id)))).filter(Boolean).length
    gone += goneHere
    start += ids.length - goneHere
  }
}

/** @returns whether the job was removed */
async function removeIfMeant({ queue, stage, removers, bounded }: JobRemovalScan, id: string): Promise<boolean> {
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
 * Runs one scan of all queues at a time: removals that are requested during a scan share the next one. A scan reads every
 * waiting job over the few connections on which jobs are also added; with one scan for each erasure, adds would wait until
 * they time out.
 */
export class JobRemovals {
  readonly #removers: Gatherer<Remover>

  /** @param scan scans all queues */
  constructor(scan: (removers: readonly Remover[]) => Promise<void>) {
    this.#removers = new Gatherer<Remover>({ flush: scan })
  }

  /** @returns the number of jobs found */
  async remove(isMeant: Remover['isMeant'], dryRun: boolean): Promise<number> {
    const remover: Remover = { isMeant, dryRun, found: 0 }
    await this.#removers.add(remover)
    return remover.found
  }
}
