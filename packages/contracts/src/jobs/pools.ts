import { z } from 'zod'
import { type StageName, stageNames } from './stages.js'

const amount = z.number().nonnegative()

const workSchema = z.object({
  workers: amount,
  /** Jobs, since the processes started. */
  done: amount,
  /** Tries of jobs that failed, whether or not they are tried again. */
  failed: amount,
  /** Milliseconds that all tries took. */
  tookMs: amount,
  /** Jobs done in a second, over the last ten. */
  perSecond: amount,
})

/** What the workers of a stage do. */
export interface PoolWork extends Readonly<z.infer<typeof workSchema>> {}

/** What a process has asked of a model. */
export interface ModelCalls {
  /** Calls of its provider, since the process started. */
  readonly calls: number
  readonly failed: number
  readonly inputTokens: number
  readonly outputTokens: number
}

/** What a process tells all others of its workers, or asks them. */
export interface StatsReport {
  readonly from: string
  readonly asks: boolean
  readonly stages: Readonly<Partial<Record<StageName, PoolWork>>>
}

export const statsReportSchema = z.object({
  from: z.string(),
  asks: z.boolean().default(false),
  stages: z.partialRecord(z.enum(stageNames), workSchema).default({}),
})
