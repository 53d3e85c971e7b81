import type { z } from 'zod'
import { assembleJobSchema, ingestJobSchema, wakeJobSchema } from './jobs.js'

export const stageNames = ['ingest', 'prune', 'summarize', 'embed', 'assemble'] as const
export type StageName = (typeof stageNames)[number]

/** The stages that are woken per thread and work from the store. */
export const wakeStageNames = ['prune', 'summarize', 'embed'] as const
export type WakeStageName = (typeof wakeStageNames)[number]

export function isWakeStage(stage: StageName): stage is WakeStageName {
  return (wakeStageNames as readonly StageName[]).includes(stage)
}

interface StageDefinition<Schema extends z.ZodType> {
  /** Its queue is `heddle-<name>`: BullMQ refuses colons. */
  readonly schema: Schema
  /** Tries before a job becomes a dead letter. */
  readonly attempts: number
  /** The wait before the second try, in milliseconds; it doubles with each further one, up to `backoffMsMax`. */
  readonly backoffMs: number
  /** Jobs that one worker process handles at once. */
  readonly concurrency: number
  /** How long a worker may hold a job without a sign of life, in milliseconds. */
  readonly lockMs: number
}

const define = <Schema extends z.ZodType>(definition: StageDefinition<Schema>) => definition

/**
 * The catalog of stages: one entry is one queue, one payload, one worker. Limits stand here and nowhere else.
 *
 * Ingest and assemble hold many jobs at once because they wait for the database most of the time (ingest also groups the
 * jobs at hand into one commit); prune, summarize and embed compute.
 */
export const stages = {
  ingest: define({ schema: ingestJobSchema, attempts: 8, backoffMs: 200, concurrency: 256, lockMs: 30_000 }),
  prune: define({ schema: wakeJobSchema, attempts: 5, backoffMs: 500, concurrency: 4, lockMs: 60_000 }),
  summarize: define({ schema: wakeJobSchema, attempts: 5, backoffMs: 1_000, concurrency: 8, lockMs: 120_000 }),
  embed: define({ schema: wakeJobSchema, attempts: 5, backoffMs: 500, concurrency: 2, lockMs: 120_000 }),
  assemble: define({ schema: assembleJobSchema, attempts: 8, backoffMs: 100, concurrency: 32, lockMs: 30_000 }),
} as const satisfies Record<StageName, StageDefinition<z.ZodType>>

export type StagePayload<Name extends StageName> = z.infer<(typeof stages)[Name]['schema']>

export const backoffMsMax = 30_000

/**
 * A job whose worker died is taken up again this often before it counts as failed. BullMQ's default of 1 fails a job
 * whose worker was killed twice, which is what a rolling restart does.
 */
export const stalledCountMax = 20

export function queueName(stage: StageName): string {
  return `heddle-${stage}`
}
