import { z } from 'zod'

/** Sizes of a plan, so that a simulation ends within minutes and fits into memory. */
export const capacityLimits = {
  secondsMax: 3_600,
  partsMax: 1_000,
  processesMax: 10_000,
  backlogMax: 1_000_000,
  /** Visits of jobs to pools in one simulation. */
  visitsMax: 20_000_000,
} as const

const { secondsMax, partsMax, processesMax, backlogMax } = capacityLimits

const name = z.string().min(1).max(100)
const count = (max: number) => z.int().min(1).max(max)
const duration = z
  .number()
  .nonnegative()
  .max(secondsMax * 1_000)
const named = <Value extends z.ZodType>(value: Value) => z.record(name, value)

const cost = {
  /** Processor time of the worker's thread, of which a process has one. */
  ownMs: duration.default(0),
  /** Processor time of other threads of the process, such as those that collect garbage; the job does not wait for it. */
  helperMs: duration.default(0),
  /** Processor time in each server, by its name. */
  serverMs: named(duration).default({}),
  /** Time without a processor: disk, network, providers of models. */
  waitMs: duration.default(0),
}
const costSchema = z.strictObject(cost)

/** The cost of one job, or of one batch. All times are in milliseconds. */
export interface JobCost extends Readonly<z.infer<typeof costSchema>> {}

const machineSchema = z.strictObject({
  processors: count(1_000),
  /**
   * How much longer everything takes on a machine with two running threads for each processor than on an idle one, as a part: threads that
   * alternate find less of their data in caches. In between it grows with the number of threads.
   */
  crowding: z.number().nonnegative().max(10).default(0),
  /** Threads of other programs that always run on each of these machines. */
  neighbours: z.int().nonnegative().max(1_000).default(0),
  /** Equal machines; processes and shards are spread over them. */
  count: count(processesMax).default(1),
})

const serverSchema = z.strictObject({
  machine: name,
  /** Statements that run at once: the limit of connections of a database or its pooler; 1 for Redis, which has one thread. */
  connections: count(100_000),
  /** Equal servers among which work is divided evenly, as projects among databases. */
  shards: count(1_000).default(1),
})

const poolSchema = z.strictObject({
  machine: name,
  processes: count(processesMax),
  /** Batches at once in each process; the jobs at once of a stage that does not commit several together. */
  slots: count(10_000).default(1),
  /** Jobs that are waiting when a slot becomes free are one batch, up to this many. */
  batchJobsMax: count(10_000).default(1),
  /** Exchanges with each server in one batch: its cost is spread over as many parts. */
  roundTrips: count(100).default(4),
  /** Besides the cost of its jobs. */
  perBatch: costSchema.prefault({}),
})

const visitSchema = z.strictObject({ pool: name, ...cost })

const workSchema = z
  .strictObject({
    /** Arrivals at random moments. */
    perSecond: z.number().positive().max(1_000_000).optional(),
    /** Jobs that wait at the start instead. */
    backlog: count(backlogMax).optional(),
    /** Standard deviation of a job's cost, as a part of the mean: 0 for equal jobs, 1 for exponential ones. */
    spread: z.number().nonnegative().max(10).default(1),
    /** One after another; the visits of a step at the same time. */
    steps: z.array(z.array(visitSchema).min(1).max(20)).min(1).max(20),
  })
  .refine(({ perSecond, backlog }) => (perSecond === undefined) !== (backlog === undefined), {
    error: 'must have either perSecond or backlog',
  })

const bounded = <Value>(parts: Readonly<Record<string, Value>>) => Object.keys(parts).length <= partsMax
const few = { error: `must have at most ${partsMax} entries` }

/** An installation and its work, for a forecast. */
export const capacityPlanSchema = z
  .strictObject({
    seed: z.int().nonnegative().default(1),
    /** Simulated time. Without `perSecond` the simulation ends when no job is left. */
    seconds: z.number().positive().max(secondsMax).default(60),
    /** Simulated before, and not counted. */
    warmUpSeconds: z.number().nonnegative().max(secondsMax).default(10),
    machines: named(machineSchema).refine(bounded, few),
    servers: named(serverSchema).refine(bounded, few).default({}),
    pools: named(poolSchema).refine(bounded, few),
    work: named(workSchema).refine(bounded, few),
  })
  .superRefine((plan, refinement) => {
    for (const { path, value, known } of references(plan))
      if (!Object.hasOwn(known, value))
        refinement.addIssue({
          code: 'custom',
          path: [...path],
          message: `must be one of ${Object.keys(known).join(', ') || 'an empty list'}`,
        })
  })

export interface CapacityPlan extends z.infer<typeof capacityPlanSchema> {}
/** A plan as it is written, without defaults. */
export type CapacityPlanInput = z.input<typeof capacityPlanSchema>

interface Reference {
  readonly path: readonly (string | number)[]
  readonly value: string
  readonly known: object
}

/** The names in a plan that must be those of other parts of it. */
function* references({ machines, servers, pools, work }: Omit<CapacityPlan, 'seed'>): Generator<Reference> {
  for (const [server, { machine }] of Object.entries(servers))
    yield { path: ['servers', server, 'machine'], value: machine, known: machines }
  for (const [pool, { machine, perBatch }] of Object.entries(pools)) {
    yield { path: ['pools', pool, 'machine'], value: machine, known: machines }
    yield* inServers(['pools', pool, 'perBatch'], perBatch, servers)
  }
  for (const [kind, { steps }] of Object.entries(work))
    for (const [step, visits] of steps.entries())
      for (const [index, visit] of visits.entries()) {
        const path = ['work', kind, 'steps', step, index]
        yield { path: [...path, 'pool'], value: visit.pool, known: pools }
        yield* inServers(path, visit, servers)
      }
}

function* inServers(path: Reference['path'], { serverMs }: Pick<JobCost, 'serverMs'>, servers: object) {
  for (const server of Object.keys(serverMs))
    yield { path: [...path, 'serverMs', server], value: server, known: servers }
}
