import { readFile, writeFile } from 'node:fs/promises'
import { type CapacityPlan, capacityPlanSchema, type JobCost, parse } from '@heddle/contracts'
import { costsOfSize, type DrainSite, type StageCosts } from '@heddle/core'
import type { StageBacklog } from './stage-backlogs.js'

const MACHINE = 'here'
/** Arrivals in a new plan, to be replaced by one's own. */
const PER_SECOND = 1

/**
 * Adds the pool of a stage to the plan in a file, with one process and one job a second of the forecast size, and the machine and servers
 * on which it was measured. A file that does not exist is created.
 */
export async function addToPlan(
  path: string,
  { stage, sizes }: StageBacklog,
  { site, costs }: { readonly site: DrainSite; readonly costs: StageCosts },
): Promise<void> {
  const { perJob, perBatch } = costsOfSize(costs, sizes.forecast)
  const { slots, batchJobsMax, processors } = site
  const before = await readPlan(path)
  const crowding = Math.max(before?.machines[MACHINE]?.crowding ?? 0, Math.round(site.crowding * 1_000) / 1_000)
  const servers = Object.entries(site.connections).map(([name, connections]) => [
    name,
    { machine: MACHINE, connections },
  ])
  const plan = {
    ...before,
    machines: { ...before?.machines, [MACHINE]: { processors, crowding } },
    servers: { ...before?.servers, ...Object.fromEntries(servers) },
    pools: {
      ...before?.pools,
      [stage]: { machine: MACHINE, processes: 1, slots, batchJobsMax, perBatch: rounded(perBatch) },
    },
    work: {
      ...before?.work,
      [stage]: { perSecond: PER_SECOND, steps: [[{ pool: stage, ...rounded(perJob) }]] },
    },
  }
  await writeFile(path, `${JSON.stringify(parse(capacityPlanSchema, plan, 'capacity plan'), null, 2)}\n`)
}

async function readPlan(path: string): Promise<CapacityPlan | null> {
  try {
    return parse(capacityPlanSchema, JSON.parse(await readFile(path, 'utf8')), 'capacity plan')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function rounded({ ownMs, helperMs, serverMs, waitMs }: JobCost): JobCost {
  const microseconds = (ms: number) => Math.round(ms * 1_000) / 1_000
  const servers = Object.entries(serverMs).map(([name, ms]) => [name, microseconds(ms)])
  return {
    ownMs: microseconds(ownMs),
    helperMs: microseconds(helperMs),
    serverMs: Object.fromEntries(servers),
    waitMs: microseconds(waitMs),
  }
}
