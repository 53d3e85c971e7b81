import { availableParallelism } from 'node:os'
import { calibrateStage, costsOfSize, forecastDrain, type SiteOf } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { type Bench, withBench } from '../bench.js'
import type { Sizes } from '../catalog.js'
import { MissingServer } from '../servers.js'
import { addToPlan } from './add-to-plan.js'
import { withBusyThreads } from './busy-threads.js'
import { measureDrain } from './drain.js'
import type { StageBacklog } from './stage-backlogs.js'

const WORKERS = [1, 2, 4]
const ERROR_MAX = 0.25
/** More than all workers together open. */
const POSTGRES_CONNECTIONS = 100

export function forecastNames({ stage }: StageBacklog): string[] {
  return WORKERS.map((workers) => `forecast.${stage}.workers${workers}`)
}

/**
 * How far a forecast is from the measurement, for one, two and four workers of a stage that drain a backlog. The simulator gets the
 * processors of this machine, the limits of the stage, and measurements of one worker with smaller and larger jobs, also beside other
 * programs that keep all processors busy. It never gets the measurements that it forecasts.
 */
export async function measureForecast(
  backlog: StageBacklog,
  { planPath }: Pick<Sizes, 'planPath'>,
): Promise<Measured[]> {
  try {
    return await withBench('redis', (bench) => measureOn(bench, backlog, planPath))
  } catch (error) {
    if (!(error instanceof MissingServer)) throw error
    return await withBench('embedded', (bench) => measureOn(bench, backlog, planPath))
  }
}

async function measureOn(bench: Bench, backlog: StageBacklog, planPath: string | null): Promise<Measured[]> {
  const { sizes, unit, stage } = backlog
  const small = await measureDrain(bench, backlog, { workers: 1, units: sizes.small })
  const large = await measureDrain(bench, backlog, { workers: 1, units: sizes.large })
  const neighbours = availableParallelism()
  const crowded = await withBusyThreads(neighbours, () =>
    measureDrain(bench, backlog, { workers: 1, units: sizes.large }),
  )
  const measuredSizes = { small, large, crowded: { drain: crowded, neighbours } }
  const costs = calibrateStage(measuredSizes, (units) => siteOf(bench, backlog, units))
  const site = { ...siteOf(bench, backlog, sizes.forecast), crowding: costs.crowding, neighbours: 0 }
  process.stderr.write(`${stage}: crowding ${costs.crowding.toFixed(3)}, wait ${JSON.stringify(costs.batchWait)} ms\n`)
  if (planPath !== null) await addToPlan(planPath, backlog, { site, costs })
  const figures: Measured[] = []
  for (const workers of WORKERS) {
    const jobs = backlog.jobsOf(sizes.forecast) * workers
    const forecast = forecastDrain(site, { jobs, workers, ...costsOfSize(costs, sizes.forecast) })
    const forecastPerSecond = jobs / forecast.seconds
    const measured = await measureDrain(bench, backlog, { workers, units: sizes.forecast })
    const perSecond = (jobs * 1_000) / measured.tookMs
    const { limit } = forecast
    figures.push({
      name: `forecast.${stage}.workers${workers}`,
      value: Math.abs(forecastPerSecond / perSecond - 1),
      unit: 'error',
      target: `<= ${ERROR_MAX}`,
      note: [
        `forecast ${round(forecastPerSecond)}, measured ${round(perSecond)} jobs/s of ${sizes.forecast} ${unit}`,
        `limited by the ${limit.part} of ${limit.name} (${Math.round(limit.busy * 100)} %)`,
        `others used ${round(measured.othersBusy)} processors`,
      ].join('; '),
    })
  }
  return figures
}

function siteOf({ servers }: Bench, { slots, batchJobsMax }: StageBacklog, units: number): ReturnType<SiteOf> {
  return {
    processors: availableParallelism(),
    connections: { postgres: POSTGRES_CONNECTIONS, ...(servers.queue.kind === 'redis' && { redis: 1 }) },
    slots,
    batchJobsMax: batchJobsMax(units),
  }
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
