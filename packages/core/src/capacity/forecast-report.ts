import type { CapacityPlan } from '@heddle/contracts'
import type { Durations } from './durations.js'
import type { Machine } from './machine.js'
import type { Pool } from './pool.js'
import type { Server } from './server.js'
import type { WorkSource } from './work-source.js'

/** The parts of a simulated installation, by their names in its plan. */
export interface Installation {
  /** Equal machines, and the shards of a server. */
  readonly machines: ReadonlyMap<string, readonly Machine[]>
  readonly servers: ReadonlyMap<string, readonly Server[]>
  readonly pools: ReadonlyMap<string, Pool>
  readonly sources: ReadonlyMap<string, WorkSource>
}

export interface ForecastTimes {
  readonly meanMs: number
  readonly p50Ms: number
  readonly p95Ms: number
}

export interface WorkForecast {
  readonly arrivedPerSecond: number
  readonly perSecond: number
  /** From arrival until all steps are done. */
  readonly latency: ForecastTimes
  /** Arrived and not done at the end. */
  readonly open: number
}

export interface PoolForecast {
  readonly processes: number
  readonly perSecond: number
  /** From the arrival of a job in the pool until a worker takes it. */
  readonly wait: ForecastTimes
  /** From then until it is done. */
  readonly service: ForecastTimes
  readonly jobsPerBatch: number
  /** The mean number of jobs that wait. */
  readonly waiting: number
  /** Share of the time in which a worker's thread computes or waits for a processor, from 0 to 1. */
  readonly threadBusy: number
  /** Share of the slots that have a job. */
  readonly slotsBusy: number
}

export interface ServerForecast {
  /** Busy processors of one shard. */
  readonly processors: number
  /** Statements at once in one shard, those that wait for a processor included. */
  readonly statements: number
  readonly statementsMax: number
}

export interface MachineForecast {
  /** Share of the processors' time that the plan's work uses, from 0 to 1. */
  readonly busy: number
  /** How much longer computing takes there than on an idle machine: 1 for the same time. */
  readonly slowdown: number
}

/** The part that is busiest. */
export interface CapacityLimit {
  readonly part: 'machine' | 'thread' | 'connections' | 'slots'
  readonly name: string
  /** From 0 to 1. */
  readonly busy: number
  /** Whether it cannot do more, so that work waits for it. */
  readonly isReached: boolean
}

export interface CapacityForecast {
  /** Simulated and counted. */
  readonly seconds: number
  readonly work: Readonly<Record<string, WorkForecast>>
  readonly pools: Readonly<Record<string, PoolForecast>>
  readonly servers: Readonly<Record<string, ServerForecast>>
  readonly machines: Readonly<Record<string, MachineForecast>>
  readonly limit: CapacityLimit
}

/** A part this busy has no capacity left: the remainder is the start and the end of the simulation. */
const FULL = 0.95

export function reportOf(plan: CapacityPlan, installation: Installation, seconds: number): CapacityForecast {
  const machines = record(installation.machines, (group, name): MachineForecast => {
    const busy = mean(group.map((machine) => machine.busy.mean()))
    const workMs = mean(group.map((machine) => machine.workMs))
    return {
      busy: busy / (plan.machines[name]?.processors ?? 1),
      slowdown: workMs === 0 ? 1 : (busy * seconds * 1_000) / workMs,
    }
  })
  const servers = record(
    installation.servers,
    (shards): ServerForecast => ({
      processors: mean(shards.map(({ spentMs }) => spentMs)) / (seconds * 1_000),
      statements: mean(shards.map(({ connections }) => connections.held.mean())),
      statementsMax: Math.max(...shards.map(({ connections }) => connections.held.max)),
    }),
  )
  const pools = record(installation.pools, (pool): PoolForecast => {
    const { workers, services, batches } = pool
    const slots = workers.length * pool.slotsEach
    return {
      processes: workers.length,
      perSecond: services.count / seconds,
      wait: timesOf(pool.waits),
      service: timesOf(services),
      jobsPerBatch: batches === 0 ? 0 : services.count / batches,
      waiting: pool.waiting.mean(),
      threadBusy: mean(workers.map(({ thread }) => thread.held.mean())),
      slotsBusy: pool.slots.mean() / slots,
    }
  })
  const work = record(
    installation.sources,
    ({ arrived, finished, latencies, open }): WorkForecast => ({
      arrivedPerSecond: arrived / seconds,
      perSecond: finished / seconds,
      latency: timesOf(latencies),
      open,
    }),
  )
  return { seconds, work, pools, servers, machines, limit: limitOf(plan, { machines, servers, pools }) }
}

/**
 * The part that limits: of those that are full the first in this order, since a full machine fills the threads on it, threads and servers
 * fill connections, and all of them fill slots. If no part is full, the busiest one, which is full next.
 */
function limitOf(
  plan: CapacityPlan,
  { machines, servers, pools }: Pick<CapacityForecast, 'machines' | 'servers' | 'pools'>,
): CapacityLimit {
  const found: Omit<CapacityLimit, 'isReached'>[] = []
  for (const [name, { busy }] of Object.entries(machines)) found.push({ part: 'machine', name, busy })
  for (const [name, { threadBusy }] of Object.entries(pools)) found.push({ part: 'thread', name, busy: threadBusy })
  for (const [name, { statements }] of Object.entries(servers))
    found.push({ part: 'connections', name, busy: statements / (plan.servers[name]?.connections ?? 1) })
  for (const [name, { slotsBusy }] of Object.entries(pools)) found.push({ part: 'slots', name, busy: slotsBusy })
  const full = found.find(({ busy }) => busy >= FULL)
  const busiest = found.reduce((most, each) => (each.busy > most.busy ? each : most), NOTHING)
  return { ...(full ?? busiest), isReached: full !== undefined }
}

const NOTHING: Omit<CapacityLimit, 'isReached'> = { part: 'machine', name: '', busy: 0 }

function timesOf(durations: Durations): ForecastTimes {
  return { meanMs: durations.meanMs(), p50Ms: durations.percentileMs(0.5), p95Ms: durations.percentileMs(0.95) }
}

function record<Value, Made>(
  parts: ReadonlyMap<string, Value>,
  make: (value: Value, name: string) => Made,
): Record<string, Made> {
  return Object.fromEntries([...parts].map(([name, value]) => [name, make(value, name)]))
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
