import { type CapacityPlan, type CapacityPlanInput, capacityPlanSchema, PermanentError } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { longCases } from '../../../../test/support/src/property-runs.js'
import { forecastCapacity } from './forecast.js'

function planOf(plan: CapacityPlanInput): CapacityPlan {
  return capacityPlanSchema.parse(plan)
}

/** One queue before workers of one machine, and nothing else. */
function queueOf(pool: { processes: number; slots?: number; processors?: number }, perSecond: number, spread: number) {
  const { processors = pool.processes, ...shape } = pool
  return planOf({
    seconds: 3_600,
    warmUpSeconds: 100,
    machines: { one: { processors } },
    pools: { stage: { machine: 'one', roundTrips: 1, ...shape } },
    work: { job: { perSecond, spread, steps: [[{ pool: 'stage', ownMs: 10 }]] } },
  })
}

const stageOf = (plan: CapacityPlan) => {
  const stage = forecastCapacity(plan).pools['stage']
  if (stage === undefined) throw new Error('the pool is missing')
  return stage
}

/** Within this share of the closed form: a simulated hour has some hundred thousand jobs, which depend on one another. */
const CLOSE = 0.06

function expectClose(value: number, expected: number): void {
  expect(Math.abs(value - expected) / expected, `${value} beside ${expected}`).toBeLessThan(CLOSE)
}

describe('closed forms', () => {
  const serviceMs = 10

  test.each(longCases([0.3, 0.6, 0.8]))('exponential jobs at a load of %d wait as in M/M/1', (load) => {
    const { wait, service, threadBusy } = stageOf(queueOf({ processes: 1 }, load * 100, 1))
    expectClose(wait.meanMs, (load / (1 - load)) * serviceMs)
    expectClose(service.meanMs, serviceMs)
    expectClose(threadBusy, load)
    // P(wait > t) = load * exp(-(1 - load) * t / service)
    expectClose(wait.p95Ms, (Math.log(load / 0.05) / (1 - load)) * serviceMs)
  })

  test.each(longCases([0.3, 0.6, 0.8]))('equal jobs at a load of %d wait half as long, as in M/D/1', (load) => {
    expectClose(stageOf(queueOf({ processes: 1 }, load * 100, 0)).wait.meanMs, (load / (1 - load) / 2) * serviceMs)
  })

  test('jobs of another spread wait as Pollaczek and Khinchine say', () => {
    const [load, spread] = [0.6, 1.5]
    const expectedMs = ((load / (1 - load)) * serviceMs * (1 + spread ** 2)) / 2
    expectClose(stageOf(queueOf({ processes: 1 }, load * 100, spread)).wait.meanMs, expectedMs)
  })

  test('four workers share a queue as in M/M/4', () => {
    const [workers, load] = [4, 0.8]
    const offered = workers * load
    const terms = [1, offered, offered ** 2 / 2, offered ** 3 / 6].reduce((sum, term) => sum + term, 0)
    const full = (offered ** workers / 24) * (1 / (1 - load))
    const waits = full / (terms + full)
    const meanMs = (waits * serviceMs) / (workers * (1 - load))
    expectClose(stageOf(queueOf({ processes: workers }, offered * 100, 1)).wait.meanMs, meanMs)
  })

  test.each([0, 1])('jobs of many workers on one processor share it, whatever their spread (%d)', (spread) => {
    const load = 0.6
    const { service } = stageOf(queueOf({ processes: 200, processors: 1 }, load * 100, spread))
    expectClose(service.meanMs, serviceMs / (1 - load))
  })
})

const cost = fc.record({
  ownMs: fc.integer({ min: 0, max: 20 }),
  helperMs: fc.integer({ min: 0, max: 5 }),
  serverMs: fc.record({ database: fc.integer({ min: 0, max: 20 }), queue: fc.integer({ min: 0, max: 3 }) }),
  waitMs: fc.integer({ min: 0, max: 20 }),
})
const pool = fc.record({
  machine: fc.constantFrom('one', 'two'),
  processes: fc.integer({ min: 1, max: 5 }),
  slots: fc.integer({ min: 1, max: 4 }),
  batchJobsMax: fc.integer({ min: 1, max: 5 }),
  roundTrips: fc.integer({ min: 1, max: 4 }),
  perBatch: cost,
})
const visits = (names: readonly string[]) =>
  fc.array(
    fc.tuple(fc.constantFrom(...names), cost).map(([name, costs]) => ({ pool: name, ...costs })),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
const backlogs = fc
  .record({
    seed: fc.nat(1_000),
    machines: fc.record({
      one: fc.record({ processors: fc.integer({ min: 1, max: 4 }), count: fc.integer({ min: 1, max: 3 }) }),
      two: fc.record({ processors: fc.integer({ min: 1, max: 4 }) }),
    }),
    servers: fc.record({
      database: fc.record({
        machine: fc.constant('one'),
        connections: fc.integer({ min: 1, max: 8 }),
        shards: fc.integer({ min: 1, max: 3 }),
      }),
      queue: fc.record({ machine: fc.constant('two'), connections: fc.constant(1) }),
    }),
    pools: fc.record({ ingest: pool, prune: pool }),
    work: fc.record({
      append: fc.record({
        backlog: fc.integer({ min: 1, max: 60 }),
        spread: fc.constantFrom(0, 0.5, 1),
        steps: fc.array(visits(['ingest', 'prune']), { minLength: 1, maxLength: 3 }),
      }),
    }),
  })
  .map(planOf)

/** The visits of one piece of work to a pool. */
function visitsTo(plan: CapacityPlan, name: string): number {
  return plan.work['append']?.steps.flat().filter((visit) => visit.pool === name).length ?? 0
}

describe('any backlog', () => {
  test('is done, each job once in each visit', () => {
    fc.assert(
      fc.property(backlogs, (plan) => {
        const { work, pools, seconds } = forecastCapacity(plan)
        const jobs = plan.work['append']?.backlog ?? 0
        expect(work['append']?.open).toBe(0)
        if (seconds === 0) return
        expect((work['append']?.perSecond ?? 0) * seconds).toBeCloseTo(jobs, 6)
        for (const name of ['ingest', 'prune'])
          expect((pools[name]?.perSecond ?? 0) * seconds).toBeCloseTo(jobs * visitsTo(plan, name), 6)
      }),
    )
  })

  test("obeys Little's law in each pool: jobs that wait are arrivals times their wait", () => {
    fc.assert(
      fc.property(backlogs, (plan) => {
        const { pools, seconds } = forecastCapacity(plan)
        if (seconds === 0) return
        for (const { waiting, perSecond, wait } of Object.values(pools))
          expect(waiting).toBeCloseTo((perSecond * wait.meanMs) / 1_000, 6)
      }),
    )
  })

  test('obeys the law of utilization: processors are busy for as long as jobs of a constant cost need them', () => {
    fc.assert(
      fc.property(backlogs, (random) => {
        const { append } = random.work
        if (append === undefined) return
        const plan = { ...random, work: { append: { ...append, spread: 0 } } }
        const { machines, pools, servers, seconds } = forecastCapacity(plan)
        if (seconds === 0) return
        let neededMs = 0
        let databaseMs = 0
        for (const visit of append.steps.flat()) {
          const jobs = append.backlog ?? 0
          neededMs += jobs * (visit.ownMs + visit.helperMs + sum(visit.serverMs))
          databaseMs += jobs * (visit.serverMs['database'] ?? 0)
        }
        for (const [name, { perBatch }] of Object.entries(plan.pools)) {
          const { perSecond = 0, jobsPerBatch = 1 } = pools[name] ?? {}
          const batches = jobsPerBatch === 0 ? 0 : (perSecond * seconds) / jobsPerBatch
          neededMs += batches * (perBatch.ownMs + perBatch.helperMs + sum(perBatch.serverMs))
          databaseMs += batches * (perBatch.serverMs['database'] ?? 0)
        }
        const busyMs = Object.entries(machines).map(([name, { busy }]) => {
          const { processors = 1, count = 1 } = plan.machines[name] ?? {}
          return busy * processors * count * seconds * 1_000
        })
        expect(busyMs.reduce((all, ms) => all + ms, 0)).toBeCloseTo(neededMs, 3)
        const { processors = 0 } = servers['database'] ?? {}
        expect(processors * (plan.servers['database']?.shards ?? 1) * seconds * 1_000).toBeCloseTo(databaseMs, 3)
      }),
    )
  })

  test('has the same forecast again, and never exceeds a limit', () => {
    fc.assert(
      fc.property(backlogs, (plan) => {
        const forecast = forecastCapacity(plan)
        expect(forecastCapacity(plan)).toEqual(forecast)
        for (const [name, { statementsMax }] of Object.entries(forecast.servers))
          expect(statementsMax).toBeLessThanOrEqual(plan.servers[name]?.connections ?? 0)
        for (const [name, { threadBusy, slotsBusy, jobsPerBatch }] of Object.entries(forecast.pools)) {
          expect(Math.max(threadBusy, slotsBusy)).toBeLessThanOrEqual(1 + 1e-9)
          expect(jobsPerBatch).toBeLessThanOrEqual(plan.pools[name]?.batchJobsMax ?? 0)
        }
        for (const { busy } of Object.values(forecast.machines)) expect(busy).toBeLessThanOrEqual(1 + 1e-9)
      }),
    )
  })
})

function sum(times: Readonly<Record<string, number>>): number {
  return Object.values(times).reduce((all, ms) => all + ms, 0)
}

describe('the part that limits', () => {
  const stage = (
    { processes, processors, slots = 1, connections = 100 }: Record<string, number>,
    costs: { ownMs?: number; databaseMs?: number; waitMs?: number },
  ) =>
    forecastCapacity(
      planOf({
        machines: { workers: { processors: processors ?? 8 }, database: { processors: 8 } },
        servers: { database: { machine: 'database', connections } },
        pools: { stage: { machine: 'workers', processes: processes ?? 1, slots } },
        work: {
          job: {
            backlog: 500,
            steps: [
              [
                {
                  pool: 'stage',
                  ownMs: costs.ownMs ?? 0,
                  waitMs: costs.waitMs ?? 0,
                  serverMs: { database: costs.databaseMs ?? 0 },
                },
              ],
            ],
          },
        },
      }),
    )

  test.each([
    ['machine', 'workers', { processes: 4, processors: 2, slots: 4 }, { ownMs: 5 }, 400],
    ['thread', 'stage', { processes: 4, slots: 4 }, { ownMs: 5, waitMs: 1 }, 800],
    ['connections', 'database', { processes: 4, slots: 4, connections: 2 }, { ownMs: 1, databaseMs: 10 }, 200],
    ['machine', 'database', { processes: 8, slots: 4 }, { ownMs: 1, databaseMs: 16 }, 500],
    ['slots', 'stage', { processes: 4, slots: 2 }, { ownMs: 1, waitMs: 20 }, 8 / 0.021],
  ] as const)('is the %s of %s', (part, name, shape, costs, perSecond) => {
    const { limit, pools } = stage(shape, costs)
    expect(limit).toMatchObject({ part, name, isReached: true })
    expectClose(pools['stage']?.perSecond ?? 0, perSecond)
  })

  test('is the busiest one, and not reached, if all parts have capacity left', () => {
    const { limit } = forecastCapacity(queueOf({ processes: 1, processors: 4 }, 50, 1))
    expect(limit).toMatchObject({ part: 'thread', name: 'stage', isReached: false })
    expectClose(limit.busy, 0.5)
  })
})

test('batches grow with the load and make each job cheaper', () => {
  const at = (perSecond: number) =>
    stageOf(
      planOf({
        machines: { one: { processors: 1 } },
        pools: { stage: { machine: 'one', processes: 1, batchJobsMax: 50, perBatch: { ownMs: 10 } } },
        work: { job: { perSecond, steps: [[{ pool: 'stage', ownMs: 0.1 }]] } },
      }),
    )
  const [calm, busy] = [at(5), at(2_000)]
  expect(calm.jobsPerBatch).toBeLessThan(1.1)
  expect(busy.jobsPerBatch).toBeGreaterThan(10)
  // Alone a job costs 10.1 ms, so without batches a processor would do 99 a second.
  expect(busy.perSecond).toBeGreaterThan(1_900)
})

test('work is spread evenly over shards, and over the machines of a group', () => {
  const { servers, machines } = forecastCapacity(
    planOf({
      machines: { workers: { processors: 4, count: 4 }, databases: { processors: 2, count: 4 } },
      servers: { database: { machine: 'databases', connections: 10, shards: 4 } },
      pools: { stage: { machine: 'workers', processes: 16 } },
      work: { turn: { perSecond: 400, steps: [[{ pool: 'stage', ownMs: 10, serverMs: { database: 10 } }]] } },
    }),
  )
  // 400 a second of 10 ms are four processors: one of the two of each database, and one of the four of each machine.
  expectClose(servers['database']?.processors ?? 0, 1)
  expectClose(machines['databases']?.busy ?? 0, 0.5)
  expectClose(machines['workers']?.busy ?? 0, 0.25)
})

test('a plan that would be simulated for hours is refused with the field to change', () => {
  const plan = queueOf({ processes: 1 }, 1_000_000, 1)
  expect(() => forecastCapacity(plan)).toThrow(PermanentError)
  expect(() => forecastCapacity(plan)).toThrow(/seconds: at most 20000000 visits/)
})
