import { type CapacityPlan, capacityPlanSchema, type JobCost, parse } from '@heddle/contracts'
import { forecastCapacity } from './forecast.js'
import type { CapacityForecast } from './forecast-report.js'

/** One machine with the workers of one stage and the servers that they use. */
export interface DrainSite {
  readonly processors: number
  /** As in a plan's machines. */
  readonly crowding: number
  readonly neighbours: number
  /** Statements at once of each server. */
  readonly connections: Readonly<Record<string, number>>
  /** Batches at once of a worker. */
  readonly slots: number
  readonly batchJobsMax: number
}

/** A backlog of equal jobs. */
export interface Backlog {
  readonly jobs: number
  readonly workers: number
  readonly perJob: JobCost
  readonly perBatch: JobCost
}

/** Real jobs are never quite equal; equal ones would move through the parts in step. */
const SPREAD = 0.25

/** The forecast of how the workers of one stage drain a backlog. */
export function forecastDrain(site: DrainSite, backlog: Backlog): CapacityForecast {
  return forecastCapacity(drainPlan(site, backlog))
}

function drainPlan({ connections, slots, batchJobsMax, ...machine }: DrainSite, backlog: Backlog): CapacityPlan {
  const { jobs, workers, perJob, perBatch } = backlog
  const servers = Object.entries(connections).map(([name, count]) => [name, { machine: 'here', connections: count }])
  const plan = {
    machines: { here: machine },
    servers: Object.fromEntries(servers),
    pools: { stage: { machine: 'here', processes: workers, slots, batchJobsMax, perBatch } },
    work: { backlog: { backlog: jobs, spread: SPREAD, steps: [[{ pool: 'stage', ...perJob }]] } },
  }
  return parse(capacityPlanSchema, plan, 'capacity plan')
}
