import type { z } from 'zod'
import { assembleJobSchema, ingestJobSchema, wakeJobSchema } from './jobs.js'

export const stageNames = ['ingest', 'prune', 'summarize', 'embed', 'remember', 'assemble'] as const
export type StageName = (typeof stageNames)[number]

/** The stages that are woken per thread and work from the store. */
export const wakeStageNames = ['prune', 'summarize', 'embed', 'remember'] as const
export type WakeStageName = (typeof wakeStageNames)[number]

export function isWakeStage(stage: StageName): stage is WakeStageName {
  return (wakeStageNames as readonly StageName[]).includes(stage)
}

/** The stages that are woken for a thread after messages were stored. */
export const stagesAfterIngest = ['prune', 'embed'] as const satisfies readonly WakeStageName[]
/** The stages that are woken at once after iterations were stored: one may have left the window of its run. */
export const stagesAfterIterations = ['summarize'] as const satisfies readonly WakeStageName[]

interface StageDefinition<Schema extends z.ZodType> {
  /** Its queue is `heddle-<name>`: BullMQ refuses colons. */
  readonly schema: Schema
  /** Attempts before a job becomes a dead letter. */
  readonly attempts: number
  /** The delay before the second attempt, in milliseconds; it doubles with each further one, up to `backoffMsMax`. */
  readonly backoffMs: number
  /** Jobs that one worker process handles at once. */
  readonly concurrency: number
  /** How long a job's lock lasts without renewal, in milliseconds; the queue limits it to 15,000 (`lockMsMax` in its bounds). */
  readonly lockMs: number
}

const define = <Schema extends z.ZodType>(definition: StageDefinition<Schema>) => definition

/**
 * The catalog of stages: one entry is one queue, one payload, one worker. Their limits are defined only here.
 *
 * Ingest and assemble process many jobs at once because they mostly wait for the database (ingest also commits several
 * jobs together); prune, summarize, embed and remember compute.
 */
export const stages = {
  ingest: define({ schema: ingestJobSchema, attempts: 8, backoffMs: 200, concurrency: 256, lockMs: 30_000 }),
  prune: define({ schema: wakeJobSchema, attempts: 5, backoffMs: 500, concurrency: 4, lockMs: 60_000 }),
  summarize: define({ schema: wakeJobSchema, attempts: 5, backoffMs: 1_000, concurrency: 8, lockMs: 120_000 }),
  embed: define({ schema: wakeJobSchema, attempts: 5, backoffMs: 500, concurrency: 2, lockMs: 120_000 }),
  remember: define({ schema: wakeJobSchema, attempts: 5, backoffMs: 1_000, concurrency: 2, lockMs: 120_000 }),
  assemble: define({ schema: assembleJobSchema, attempts: 8, backoffMs: 100, concurrency: 32, lockMs: 30_000 }),
} as const satisfies Record<StageName, StageDefinition<z.ZodType>>

export type StagePayload<Name extends StageName> = z.infer<(typeof stages)[Name]['schema']>

export const backoffMsMax = 30_000

/**
 * How often a job is retried after its worker died before it counts as failed. BullMQ's default of 1 fails a job whose
 * worker was killed twice, which happens in a rolling restart.
 */
export const stalledCountMax = 20

export function queueName(stage: StageName): string {
  return `heddle-${stage}`
}
