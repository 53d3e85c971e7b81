import { z } from 'zod'
import { type StageName, stageNames } from './stages.js'

const amount = z.number().nonnegative()

const workSchema = z.object({
  workers: amount,
  /** Jobs done since the processes started. */
  done: amount,
  /** Failed attempts, whether or not they are retried. */
  failed: amount,
  /** Total milliseconds of all attempts. */
  tookMs: amount,
  /** Jobs done per second, over the last ten seconds. */
  perSecond: amount,
})

/** Statistics of a stage's workers. */
export interface PoolWork extends Readonly<z.infer<typeof workSchema>> {}

/** A process's calls of a model. */
export interface ModelCalls {
  /** Provider calls since the process started. */
  readonly calls: number
  readonly failed: number
  readonly inputTokens: number
  readonly outputTokens: number
}

/** A process's report about its workers, or a request for such reports. */
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
