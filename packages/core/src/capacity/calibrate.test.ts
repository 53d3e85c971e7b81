import type { JobCost } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { calibrateStage, costsOfSize, type MeasuredDrain } from './calibrate.js'
import { type DrainSite, forecastDrain } from './drain.js'

const site: DrainSite = { processors: 2, connections: { postgres: 100, redis: 1 }, slots: 4, batchJobsMax: 1 }
const JOBS = 2_000

/** The true cost of a job, which the calibration does not see. */
function truth(units: number): { perJob: JobCost; perBatch: JobCost } {
  return {
    perJob: {
      ownMs: 0.5 + 0.1 * units,
      helperMs: 0.02 * units,
      serverMs: { postgres: 1 + 0.15 * units, redis: 0.05 },
      waitMs: 0,
    },
    perBatch: { ownMs: 0, helperMs: 0, serverMs: {}, waitMs: 3 + 0.05 * units },
  }
}

function measure(units: number): MeasuredDrain {
  const { perJob, perBatch } = truth(units)
  const { seconds } = forecastDrain(site, { jobs: JOBS, workers: 1, perJob, perBatch })
  return {
    jobs: JOBS,
    units,
    tookMs: seconds * 1_000,
    ownMs: perJob.ownMs * JOBS,
    helperMs: perJob.helperMs * JOBS,
    serverMs: { postgres: (perJob.serverMs['postgres'] ?? 0) * JOBS, redis: (perJob.serverMs['redis'] ?? 0) * JOBS },
  }
}

test.each([1, 2, 4])('two sizes measured with one worker forecast a third one with %d workers', (workers) => {
  const costs = calibrateStage(measure(5), measure(40), () => site)
  const expected = forecastDrain(site, { jobs: JOBS, workers, ...truth(20) })
  const forecast = forecastDrain(site, { jobs: JOBS, workers, ...costsOfSize(costs, 20) })
  expect(forecast.seconds / expected.seconds).toBeGreaterThan(0.95)
  expect(forecast.seconds / expected.seconds).toBeLessThan(1.05)
})

test('a cost that does not grow with the size is fixed, and no cost is below zero', () => {
  const drain = (units: number, ownMs: number): MeasuredDrain => ({
    ...{ jobs: 100, units, ownMs: 100 * ownMs, helperMs: 0, serverMs: { postgres: 100, redis: 0 } },
    tookMs: 100 * (ownMs + 1),
  })
  expect(calibrateStage(drain(10, 4), drain(20, 3), () => site)).toMatchObject({
    fixed: { ownMs: 3.5, serverMs: { postgres: 1, redis: 0 } },
    perUnit: { ownMs: 0, serverMs: { postgres: 0, redis: 0 } },
  })
  expect(calibrateStage(drain(10, 1), drain(20, 5), () => site)).toMatchObject({
    fixed: { ownMs: 0 },
    perUnit: { ownMs: 0.2 },
  })
})

test('a duration that processor times explain leaves no wait', () => {
  const all = measure(5)
  const busy = { ...all, tookMs: all.ownMs }
  expect(calibrateStage(busy, { ...measure(40), tookMs: 1 }, () => site).batchWait).toEqual({
    fixedMs: 0,
    perUnitMs: 0,
  })
})
