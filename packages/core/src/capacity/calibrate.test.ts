import type { JobCost } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { calibrateStage, costsOfSize, type MeasuredDrain } from './calibrate.js'
import { type DrainSite, forecastDrain } from './drain.js'

const site = { processors: 2, connections: { postgres: 100, redis: 1 }, slots: 4, batchJobsMax: 1 }
const NEIGHBOURS = 2
const JOBS = 2_000

/** The true cost of a job on an idle machine, which the calibration does not see. */
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

function measure(units: number, crowding: number, neighbours = 0): MeasuredDrain {
  const { perJob, perBatch } = truth(units)
  const at: DrainSite = { ...site, crowding, neighbours }
  const { seconds, machines } = forecastDrain(at, { jobs: JOBS, workers: 1, perJob, perBatch })
  const times = JOBS * (machines['here']?.slowdown ?? 1)
  return {
    jobs: JOBS,
    units,
    tookMs: seconds * 1_000,
    ownMs: perJob.ownMs * times,
    helperMs: perJob.helperMs * times,
    serverMs: { postgres: (perJob.serverMs['postgres'] ?? 0) * times, redis: (perJob.serverMs['redis'] ?? 0) * times },
  }
}

describe.each([0, 0.4])('on a machine whose crowding is %d', (crowding) => {
  const measured = {
    small: measure(5, crowding),
    large: measure(40, crowding),
    crowded: { drain: measure(40, crowding, NEIGHBOURS), neighbours: NEIGHBOURS },
  }
  const costs = calibrateStage(measured, () => site)

  test('the crowding is found', () => {
    expect(costs.crowding).toBeCloseTo(crowding, 1)
  })

  test.each([1, 2, 4])('sizes measured with one worker forecast another one with %d workers', (workers) => {
    const expected = forecastDrain({ ...site, crowding, neighbours: 0 }, { jobs: JOBS, workers, ...truth(20) })
    const at = { ...site, crowding: costs.crowding, neighbours: 0 }
    const forecast = forecastDrain(at, { jobs: JOBS, workers, ...costsOfSize(costs, 20) })
    expect(forecast.seconds / expected.seconds).toBeGreaterThan(0.95)
    expect(forecast.seconds / expected.seconds).toBeLessThan(1.05)
  })
})

function calibrate(small: MeasuredDrain, large: MeasuredDrain) {
  return calibrateStage({ small, large, crowded: { drain: large, neighbours: NEIGHBOURS } }, () => site)
}

test('a cost that does not grow with the size is fixed, and no cost is below zero', () => {
  const drain = (units: number, ownMs: number): MeasuredDrain => ({
    ...{ jobs: 100, units, ownMs: 100 * ownMs, helperMs: 0, serverMs: { postgres: 100, redis: 0 } },
    tookMs: 100 * (ownMs + 1),
  })
  expect(calibrate(drain(10, 4), drain(20, 3))).toMatchObject({
    fixed: { ownMs: expect.closeTo(3.5), serverMs: { postgres: expect.closeTo(1), redis: 0 } },
    perUnit: { ownMs: 0, serverMs: { postgres: 0, redis: 0 } },
    crowding: 0,
  })
  expect(calibrate(drain(10, 1), drain(20, 5))).toMatchObject({
    fixed: { ownMs: 0 },
    perUnit: { ownMs: expect.closeTo(0.2) },
  })
})

test('a duration that processor times explain leaves no wait', () => {
  const all = measure(5, 0)
  const busy = { ...all, tookMs: all.ownMs }
  expect(calibrate(busy, { ...measure(40, 0), tookMs: 1 }).batchWait).toEqual({ fixedMs: 0, perUnitMs: 0 })
})
