import type { JobCost } from '@heddle/contracts'
import { type DrainSite, forecastDrain } from './drain.js'

/** Measured while one worker of a stage drained a backlog of equal jobs, alone on its machine with the servers. */
export interface MeasuredDrain {
  readonly jobs: number
  /** The size of each job: messages, or another measure with which its cost grows. */
  readonly units: number
  readonly tookMs: number
  /** Processor time of the worker's thread, and of the other threads of its process. */
  readonly ownMs: number
  readonly helperMs: number
  /** Processor time of each server. */
  readonly serverMs: Readonly<Record<string, number>>
}

/** One worker's drains of smaller and of larger jobs. */
export interface MeasuredSizes {
  readonly small: MeasuredDrain
  readonly large: MeasuredDrain
  /** The larger ones again, beside this many threads of other programs that always ran. */
  readonly crowded: { readonly drain: MeasuredDrain; readonly neighbours: number }
}

/** The cost of a stage's job by its size: `fixed + units * perUnit`. */
export interface StageCosts {
  /** Of a job. */
  readonly fixed: JobCost
  readonly perUnit: JobCost
  /** The wait of a batch of such jobs, whose statements wait for the disk and the network together. */
  readonly batchWait: { readonly fixedMs: number; readonly perUnitMs: number }
  /** How much slower the stage is on a crowded machine, as in a plan's machines. */
  readonly crowding: number
}

/** The machine and the limits of the stage, for jobs of this size. */
export type SiteOf = (units: number) => Omit<DrainSite, 'crowding' | 'neighbours'>

/** Of a simulation that looks for a cost: enough for a rate, and soon done. */
const SIMULATED_BATCHES_MAX = 500
const SIMULATED_JOBS_MAX = 10_000
/** Each halves the range of the value that is looked for. */
const HALVINGS = 14
const CROWDING_MAX = 3

/**
 * The cost of a job by its size, from two measured sizes, and from one of them on a machine that was crowded with other programs.
 *
 * Processor times are those that were measured, as they would be on an idle machine; the crowding is the one with which the simulation of
 * both measurements differs as much in processor time as they do. The rest of the time, in which a batch waits for the disk, the network
 * and the queue, is the wait with which the simulation of that one worker takes as long as the measurement.
 */
export function calibrateStage({ small, large, crowded }: MeasuredSizes, siteOf: SiteOf): StageCosts {
  const site = siteOf(large.units)
  const rough = findWait(jobOf(large), large, { ...site, crowding: 0, neighbours: 0 })
  const measuredRatio = processorMs(crowded.drain) / crowded.drain.jobs / (processorMs(large) / large.jobs)
  const crowding = findFirst(CROWDING_MAX, (tried) => {
    const quiet = { ...site, crowding: tried, neighbours: 0 }
    const job = idleJob(large, quiet, rough)
    const [alone, beside] = [quiet, { ...quiet, neighbours: crowded.neighbours }].map((at) => slowdown(job, rough, at))
    return (beside ?? 1) / (alone ?? 1) >= measuredRatio
  })

  const calibrated = new Map(
    [small, large].map((drain) => {
      const at = { ...siteOf(drain.units), crowding, neighbours: 0 }
      const job = idleJob(drain, at, findWait(jobOf(drain), drain, { ...at, crowding: 0 }))
      return [drain, { job, waitMs: findWait(job, drain, at) }]
    }),
  )
  const line = (read: (found: { job: JobCost; waitMs: number }) => number) => {
    const [low, high] = [small, large].map((drain) => calibrated.get(drain))
    return lineThrough([small.units, low ? read(low) : 0], [large.units, high ? read(high) : 0])
  }
  const own = line(({ job }) => job.ownMs)
  const helper = line(({ job }) => job.helperMs)
  const servers = Object.keys(small.serverMs).map((name) => [name, line(({ job }) => job.serverMs[name] ?? 0)] as const)
  const wait = line(({ waitMs }) => waitMs)
  const cost = (part: keyof Line): JobCost => ({
    ownMs: own[part],
    helperMs: helper[part],
    serverMs: Object.fromEntries(servers.map(([name, of]) => [name, of[part]])),
    waitMs: 0,
  })
  const batchWait = { fixedMs: wait.fixed, perUnitMs: wait.perUnit }
  return { fixed: cost('fixed'), perUnit: cost('perUnit'), batchWait, crowding }
}

/** The costs of a job of this size, and of a batch besides its jobs. */
export function costsOfSize(
  { fixed, perUnit, batchWait }: StageCosts,
  units: number,
): { readonly perJob: JobCost; readonly perBatch: JobCost } {
  const serverMs = Object.entries(fixed.serverMs).map(([name, ms]) => [
    name,
    ms + units * (perUnit.serverMs[name] ?? 0),
  ])
  const perJob = {
    ownMs: fixed.ownMs + units * perUnit.ownMs,
    helperMs: fixed.helperMs + units * perUnit.helperMs,
    serverMs: Object.fromEntries(serverMs),
    waitMs: 0,
  }
  return { perJob, perBatch: waitOnly(batchWait.fixedMs + units * batchWait.perUnitMs) }
}

function waitOnly(waitMs: number): JobCost {
  return { ownMs: 0, helperMs: 0, serverMs: {}, waitMs }
}

function processorMs({ ownMs, helperMs, serverMs }: Pick<MeasuredDrain, 'ownMs' | 'helperMs' | 'serverMs'>): number {
  return Object.values(serverMs).reduce((sum, ms) => sum + ms, ownMs + helperMs)
}

function jobOf(drain: MeasuredDrain): JobCost {
  return scaled(drain, 1 / drain.jobs)
}

function scaled({ ownMs, helperMs, serverMs }: Omit<JobCost, 'waitMs'>, factor: number): JobCost {
  const servers = Object.entries(serverMs).map(([name, ms]) => [name, ms * factor])
  return { ownMs: ownMs * factor, helperMs: helperMs * factor, serverMs: Object.fromEntries(servers), waitMs: 0 }
}

/** A measured job as on an idle machine: one worker and the servers crowd their machine a little, too. */
function idleJob(drain: MeasuredDrain, site: DrainSite, waitMs: number): JobCost {
  const job = jobOf(drain)
  return scaled(job, 1 / slowdown(job, waitMs, site))
}

function slowdown(perJob: JobCost, waitMs: number, site: DrainSite): number {
  return simulate(perJob, waitMs, site).slowdown
}

function simulate(perJob: JobCost, waitMs: number, site: DrainSite) {
  const jobs = Math.min(SIMULATED_JOBS_MAX, SIMULATED_BATCHES_MAX * site.batchJobsMax)
  const perBatch = waitOnly(waitMs)
  const forecast = forecastDrain(site, { jobs, workers: 1, perJob, perBatch })
  return { eachMs: (forecast.seconds * 1_000) / jobs, slowdown: forecast.machines['here']?.slowdown ?? 1 }
}

/** @returns the wait of a batch in milliseconds; 0 if its processor times explain the duration, or more than it */
function findWait(perJob: JobCost, { jobs, tookMs }: MeasuredDrain, site: DrainSite): number {
  const eachMs = tookMs / jobs
  // With this wait alone the batches, of which as many run at once as there are slots, take twice as long.
  return findFirst(
    2 * eachMs * site.slots * site.batchJobsMax,
    (waitMs) => simulate(perJob, waitMs, site).eachMs >= eachMs,
  )
}

/** The smallest value from 0 to `most` from which on the condition holds; 0 if it always does. */
function findFirst(most: number, holds: (value: number) => boolean): number {
  if (holds(0)) return 0
  let [low, high] = [0, most]
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (low + high) / 2
    if (holds(middle)) high = middle
    else low = middle
  }
  return (low + high) / 2
}

interface Line {
  readonly fixed: number
  readonly perUnit: number
}

type Point = readonly [units: number, value: number]

/** Neither part is below zero: a cost that does not grow is fixed, and one that would be negative without units has no fixed part. */
function lineThrough([smallUnits, small]: Point, [largeUnits, large]: Point): Line {
  const perUnit = (large - small) / (largeUnits - smallUnits)
  if (!(perUnit > 0)) return { fixed: (small + large) / 2, perUnit: 0 }
  const fixed = small - perUnit * smallUnits
  return fixed >= 0 ? { fixed, perUnit } : { fixed: 0, perUnit: (small + large) / (smallUnits + largeUnits) }
}
