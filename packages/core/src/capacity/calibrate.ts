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

/** The cost of a stage's job by its size: `fixed + units * perUnit`. */
export interface StageCosts {
  /** Of a job. */
  readonly fixed: JobCost
  readonly perUnit: JobCost
  /** The wait of a batch of such jobs, whose statements wait for the disk and the network together. */
  readonly batchWait: { readonly fixedMs: number; readonly perUnitMs: number }
}

/** Batches in a simulation that looks for a wait: enough for a rate, and soon done. */
const SIMULATED_BATCHES_MAX = 1_000
/** Each halves the range of the wait that is looked for. */
const HALVINGS = 20

/**
 * The cost of a job by its size, from two measured sizes. Processor times are taken as they were measured; the rest of the time, in which
 * a batch waits for the disk, the network and the queue, is the wait with which the simulation of that one worker takes as long as the
 * measurement.
 */
export function calibrateStage(
  small: MeasuredDrain,
  large: MeasuredDrain,
  siteOf: (units: number) => DrainSite,
): StageCosts {
  const line = (read: (drain: MeasuredDrain) => number) =>
    lineThrough([small.units, read(small)], [large.units, read(large)])
  const own = line(({ ownMs, jobs }) => ownMs / jobs)
  const helper = line(({ helperMs, jobs }) => helperMs / jobs)
  const servers = Object.keys(small.serverMs).map(
    (name) => [name, line(({ serverMs, jobs }) => (serverMs[name] ?? 0) / jobs)] as const,
  )
  const waits = new Map([small, large].map((drain) => [drain, findWait(drain, siteOf(drain.units))]))
  const wait = line((drain) => waits.get(drain) ?? 0)
  const cost = (part: keyof Line): JobCost => ({
    ownMs: own[part],
    helperMs: helper[part],
    serverMs: Object.fromEntries(servers.map(([name, of]) => [name, of[part]])),
    waitMs: 0,
  })
  return {
    fixed: cost('fixed'),
    perUnit: cost('perUnit'),
    batchWait: { fixedMs: wait.fixed, perUnitMs: wait.perUnit },
  }
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

/** @returns the wait of a batch in milliseconds; 0 if its processor times explain the duration, or more than it */
function findWait({ jobs, tookMs, ownMs, helperMs, serverMs }: MeasuredDrain, site: DrainSite): number {
  const each = Object.fromEntries(Object.entries(serverMs).map(([name, ms]) => [name, ms / jobs]))
  const perJob = { ownMs: ownMs / jobs, helperMs: helperMs / jobs, serverMs: each, waitMs: 0 }
  const simulated = Math.min(jobs, SIMULATED_BATCHES_MAX * site.batchJobsMax)
  const tookWith = (waitMs: number) =>
    (forecastDrain(site, { jobs: simulated, workers: 1, perJob, perBatch: waitOnly(waitMs) }).seconds * 1_000) /
    simulated
  const goal = tookMs / jobs
  if (tookWith(0) >= goal) return 0
  // With this wait alone the batches, of which as many run at once as there are slots, take as long.
  let [low, high] = [0, 2 * goal * site.slots * site.batchJobsMax]
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (low + high) / 2
    if (tookWith(middle) < goal) low = middle
    else high = middle
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
