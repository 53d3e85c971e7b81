import { z } from 'zod'
import { type StageName, stageNames, wakeStageNames } from '../jobs/stages.js'
import type { OutputOf } from '../primitives/output-of.js'
import { isoTimeSchema, named, pageSchema } from './common.js'

const stageSchema = z.enum(stageNames, { error: `must be one of ${stageNames.join(', ')}` })

export const stageParamsSchema = z.strictObject({ stage: stageSchema })

const jobsSchema = z.object({
  stage: stageSchema,
  /** Jobs that no worker has fetched yet. */
  waiting: z.int(),
  active: z.int(),
  /** Jobs that wait for their next attempt. */
  delayed: z.int(),
  /** How long the oldest waiting job has waited; null if no job waits. */
  oldestWaitMs: z.number().nullable(),
  /** Jobs that all workers together did per second, over the last ten seconds. */
  perSecond: z.number(),
})

export const stageStateSchema = named(
  'StageState',
  jobsSchema.extend({
    /** Whether workers fetch no jobs until it is resumed. */
    paused: z.boolean(),
    /** Workers of all processes that have reported. */
    workers: z.int(),
    /** Jobs done since these processes started. */
    done: z.number(),
    /** Failed attempts since then, whether or not they were repeated. */
    failed: z.number(),
    /** Mean duration of an attempt in milliseconds; null before the first. */
    meanMs: z.number().nullable(),
  }),
)
/** The queue of a stage, and the work of its workers. */
export type StageState = OutputOf<typeof stageStateSchema>
export const stagePageSchema = named('StagePage', pageSchema(stageStateSchema))

export const stageBacklogSchema = named(
  'StageBacklog',
  z.object({
    /** Jobs that a worker could fetch at this moment: those that wait, and those that are due. */
    backlog: z.int(),
    /** Without a delay, those with a priority included. */
    waiting: z.int(),
    /** How many of these have a priority. */
    prioritized: z.int(),
    /** Delayed jobs whose time has come. */
    due: z.int(),
    /** How long the oldest job of the backlog could have been fetched already; 0 for an empty backlog. */
    oldestWaitSeconds: z.number(),
    paused: z.boolean(),
    /** `oldestWaitSeconds`, but 0 while the stage is paused, when more workers would fetch nothing: the figure to scale by. */
    scaleSeconds: z.number(),
  }),
)
/** The jobs of a stage, over all states in which a worker could fetch one. */
export type StageBacklog = OutputOf<typeof stageBacklogSchema>

export const stageBehindSchema = named(
  'StageBehind',
  z.object({
    stage: z.enum(wakeStageNames),
    /** Threads of the project with messages that the stage has not reached, among those that were read. */
    threads: z.int(),
    /** Messages of these threads that it has not reached. */
    messages: z.int(),
    /** When the first of these messages was stored; null without one. */
    since: isoTimeSchema.nullable(),
    /** The thread of that message. */
    thread: z.string().nullable(),
    /** Threads whose job of this stage failed for good, with the latest error; null without one. */
    failure: z
      .object({
        threads: z.int(),
        /** A thread with this error. */
        thread: z.string(),
        error: z.string(),
        /** When the stage is started for it again. */
        retryAt: isoTimeSchema.nullable(),
      })
      .nullable(),
    /** Whether all threads that are behind were read; otherwise the counts are of the first ones. */
    isComplete: z.boolean(),
  }),
)
/** The messages of a project that a stage has not reached, and since when. */
export type StageBehind = OutputOf<typeof stageBehindSchema>
export const stageBehindPageSchema = named('StageBehindPage', pageSchema(stageBehindSchema))

function ofEveryStage<Schema>(schema: Schema): Record<StageName, Schema> {
  return Object.fromEntries(stageNames.map((stage) => [stage, schema])) as Record<StageName, Schema>
}

/** By the names of the stages, not as a list: autoscalers name one figure by its path, such as `stages.embed.scaleSeconds`. */
export const scalingSchema = named('Scaling', z.object({ stages: z.object(ofEveryStage(stageBacklogSchema)) }))
/** The backlogs of all stages, the same from every gateway. */
export type Scaling = OutputOf<typeof scalingSchema>

export const stageSampleSchema = named('StageSample', z.object({ at: isoTimeSchema, stages: z.array(jobsSchema) }))
/** The queues of all stages at a moment. */
export type StageSample = OutputOf<typeof stageSampleSchema>
export const stageSamplePageSchema = named('StageSamplePage', pageSchema(stageSampleSchema))

export const stageSwitchedSchema = named('StageSwitched', z.object({ stage: stageSchema, paused: z.boolean() }))
export type StageSwitched = OutputOf<typeof stageSwitchedSchema>

export const findingSchema = named(
  'Finding',
  z.object({
    name: z.string(),
    /** `skip`: not checked, because a check before it failed. */
    status: z.enum(['ok', 'warn', 'fail', 'skip']),
    detail: z.string(),
    /** How to mend it, for `warn` and `fail`. */
    hint: z.string().optional(),
  }),
)
/** The result of one check of `heddle doctor`. */
export type Finding = OutputOf<typeof findingSchema>
export const findingPageSchema = named('FindingPage', pageSchema(findingSchema))
