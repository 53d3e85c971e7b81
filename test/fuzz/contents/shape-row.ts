import { z } from 'zod'

const waitSchema = z.object({
  during: z.string(),
  healthMs: z.number(),
  emptyMs: z.number(),
  loopMs: z.number(),
  tookMs: z.number(),
})

/** The costs of one shape, as a file of results has them. */
export const shapeRowSchema = z.object({
  shape: z.string(),
  /** The longest answer of `/healthz`, and the step during which it came. */
  healthMs: z.number(),
  during: z.string(),
  /** The longest answer of a server without work in the step of the longest answer of `/healthz`. */
  emptyMs: z.number(),
  /** The longest block of the event loop, and the step during which it came. */
  loopMs: z.number(),
  loopDuring: z.string(),
  /** From the append until all stages have finished, by size. */
  settledMs: z.record(z.string(), z.number()),
  importedMs: z.number(),
  /** The time to settle of the largest size, divided by that of the smallest. */
  growth: z.number(),
  /** The delays for other clients during each step, with the size in megabytes, and its duration. */
  waits: z.array(waitSchema),
  error: z.string().nullable(),
  /** Of the whole row, with the text's generation and all readings. */
  tookMs: z.number(),
  /** The share of the processors that other programs used meanwhile; null where the system does not say. */
  othersShare: z.number().nullable(),
  /** The measured commit; null outside a repository. */
  commit: z.string().nullable(),
})

/** The costs of one shape. */
export type ShapeRow = Readonly<z.infer<typeof shapeRowSchema>>

export const HEALTH_MS_MAX = 250
export const GROWTH_MAX = 10
/** With more, an answer or a time may be long for reasons of other programs. */
const OTHERS_SHARE_MAX = 0.1

/** Whether a row meets its limits. */
export function isWithinLimits({ error, healthMs, growth }: Pick<ShapeRow, 'error' | 'healthMs' | 'growth'>): boolean {
  return error === null && healthMs <= HEALTH_MS_MAX && growth <= GROWTH_MAX
}

export function isMeasuredBusy({ othersShare }: Pick<ShapeRow, 'othersShare'>): boolean {
  return othersShare !== null && othersShare > OTHERS_SHARE_MAX
}
