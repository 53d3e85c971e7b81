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

const callsSchema = z.object({
  /** Calls of a model's provider, since the processes started. */
  calls: amount,
  failed: amount,
  inputTokens: amount,
  outputTokens: amount,
})

/** What was asked of a model. */
export interface ModelCalls extends Readonly<z.infer<typeof callsSchema>> {}

/** What a process tells all others of its workers, or asks them. */
export interface PoolWord {
  readonly from: string
  readonly asks: boolean
  readonly stages: Readonly<Partial<Record<StageName, PoolWork>>>
  /** By provider and model: `openai gpt-4o-mini`. */
  readonly models: Readonly<Record<string, ModelCalls>>
}

export const poolWordSchema = z.object({
  from: z.string(),
  asks: z.boolean().default(false),
  stages: z.partialRecord(z.enum(stageNames), workSchema).default({}),
  models: z.record(z.string(), callsSchema).default({}),
})
