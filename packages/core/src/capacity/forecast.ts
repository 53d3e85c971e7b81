import { type CapacityPlan, capacityLimits, PermanentError } from '@heddle/contracts'
import { Agenda } from './agenda.js'
import { Chance } from './chance.js'
import { type CapacityForecast, type Installation, reportOf } from './forecast-report.js'
import { Machine } from './machine.js'
import { Pool } from './pool.js'
import { Server } from './server.js'
import { WorkSource } from './work-source.js'
import { Worker } from './worker.js'

/** Keeps the random numbers of one kind of work apart from those of another seed's. */
const SEEDS_APART = 1_000_003

/**
 * Simulates an installation under its work, event by event: jobs wait in their pool for a slot, compute on processors that they share
 * with everything else on their machine, and wait for statements. The same plan gives the same forecast.
 *
 * Work with `perSecond` runs for `seconds` after the warm-up; a plan of backlogs alone runs until all is done.
 *
 * @throws PermanentError `VALIDATION_ERROR` if the plan has more work than can be simulated
 */
export function forecastCapacity(plan: CapacityPlan): CapacityForecast {
  refuseLong(plan)
  const agenda = new Agenda()
  const installation = build(agenda, plan)
  for (const source of installation.sources.values()) source.start()
  if (isBacklogOnly(plan)) {
    while (agenda.runNext());
    return reportOf(plan, installation, agenda.nowMs / 1_000)
  }
  agenda.runUntil(plan.warmUpSeconds * 1_000)
  restart(installation)
  agenda.runUntil((plan.warmUpSeconds + plan.seconds) * 1_000)
  return reportOf(plan, installation, plan.seconds)
}

function isBacklogOnly({ work }: CapacityPlan): boolean {
  return Object.values(work).every(({ perSecond }) => perSecond === undefined)
}

function refuseLong({ work, warmUpSeconds, seconds }: CapacityPlan): void {
  let visits = 0
  for (const { backlog = 0, perSecond = 0, steps } of Object.values(work))
    visits += (backlog + perSecond * (warmUpSeconds + seconds)) * steps.reduce((sum, step) => sum + step.length, 0)
  if (visits <= capacityLimits.visitsMax) return
  throw new PermanentError(
    'VALIDATION_ERROR',
    `capacity plan: seconds: at most ${capacityLimits.visitsMax} visits of jobs to pools can be simulated (received ${Math.ceil(visits)})`,
    {
      field: 'seconds',
      received: String(seconds),
      hint: 'Simulate fewer seconds: the figures need some thousand jobs.',
    },
  )
}

function build(agenda: Agenda, plan: CapacityPlan): Installation {
  const machines = mapValues(plan.machines, ({ count, ...options }) => times(count, () => new Machine(agenda, options)))
  /** Of a group of equal machines, one after another. */
  const machineOf = (name: string, index: number): Machine => {
    const group = machines.get(name) ?? []
    const machine = group[index % group.length]
    if (machine === undefined) throw new Error(`there is no machine ${name}`)
    return machine
  }
  const servers = mapValues(plan.servers, ({ machine, connections, shards }) =>
    times(shards, (shard) => new Server(agenda, machineOf(machine, shard), connections)),
  )
  const pools = mapValues(plan.pools, (pool) => {
    const workers = times(pool.processes, (index) => new Worker(agenda, machineOf(pool.machine, index)))
    return new Pool(agenda, pool, workers, servers)
  })
  let kinds = 0
  const sources = mapValues(plan.work, (work) => {
    const chance = new Chance(plan.seed * SEEDS_APART + kinds++)
    return new WorkSource({ agenda, work, pools, chance })
  })
  return { machines, servers, pools, sources }
}

function restart({ machines, servers, pools, sources }: Installation): void {
  for (const each of [...pools.values(), ...sources.values(), ...[...servers.values()].flat()]) each.restart()
  for (const machine of [...machines.values()].flat()) machine.restart()
}

function mapValues<Value, Made>(
  parts: Readonly<Record<string, Value>>,
  make: (value: Value) => Made,
): Map<string, Made> {
  return new Map(Object.entries(parts).map(([name, value]) => [name, make(value)]))
}

function times<Made>(count: number, make: (index: number) => Made): Made[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
