import { z } from 'zod'
import { stageNames } from '../jobs/stages.js'
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
