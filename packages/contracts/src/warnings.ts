import { z } from 'zod'

/** Why a window leaves out a message that a context could show otherwise. */
export const hiddenReasons = ['outside-window', 'before-clear'] as const
export type HiddenReason = (typeof hiddenReasons)[number]

/** Messages that were stored, but that no context shows with the current window of their thread. */
export const appendWarningSchema = z.object({
  reason: z.enum(hiddenReasons),
  /** Messages of this append that it concerns. */
  count: z.int().min(1),
  detail: z.string(),
  /** Advice. */
  hint: z.string(),
})
export type AppendWarning = z.infer<typeof appendWarningSchema>
