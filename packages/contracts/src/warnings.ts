import { z } from 'zod'

/** Why a window leaves out a message that a context could show otherwise. */
export const hiddenReasons = ['outside-window', 'before-clear'] as const
export type HiddenReason = (typeof hiddenReasons)[number]

/** Messages that were taken, and that no context shows as the window of their thread is now. */
export const appendWarningSchema = z.object({
  reason: z.enum(hiddenReasons),
  /** Messages of this append that it is about. */
  count: z.int().min(1),
  detail: z.string(),
  /** What to do about it. */
  hint: z.string(),
})
export type AppendWarning = z.infer<typeof appendWarningSchema>
