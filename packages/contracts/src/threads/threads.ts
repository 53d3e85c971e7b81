import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { timeSchema } from '../primitives/names.js'
import { partialSettingsSchema } from '../settings/settings.js'

const textUpTo = (charactersMax: number) =>
  z.string().min(1, 'must not be empty').max(charactersMax, `must have at most ${charactersMax} characters`)

/** The environment of a run (docs/iterations.md). If it is missing, it is derived from the iterations. */
export const loopSchema = z.strictObject({
  startTime: timeSchema.optional(),
  currentCli: textUpTo(200).optional(),
  currentModel: textUpTo(200).optional(),
  envSnapshot: z
    .record(z.string().max(limits.nameCharactersMax), z.string().max(limits.environmentCharactersMax))
    .refine(
      (variables) => JSON.stringify(variables).length <= limits.environmentCharactersMax,
      `must have at most ${limits.environmentCharactersMax} characters together`,
    )
    .optional(),
})
export type Loop = z.infer<typeof loopSchema>

const detailsSchema = z.strictObject({
  title: textUpTo(limits.titleCharactersMax).nullable(),
  /** Stored whole; a prompt shows its first 1,000 tokens (docs/iterations.md#limits-of-the-sections). */
  goal: textUpTo(limits.messageCharactersMax).nullable(),
  /** The status of the thread. A thread with a status is shown to the agent's other threads. */
  status: textUpTo(limits.statusCharactersMax).nullable(),
  /** Settings that override the agent's. */
  settings: partialSettingsSchema,
  loop: loopSchema.nullable(),
})

/** The subject and status of a thread. Missing fields are unchanged; null removes one. */
export const threadDetailsSchema = detailsSchema.partial()
export type ThreadDetails = z.infer<typeof threadDetailsSchema>

/** The status of a process of a thread. The first request for a process must have a status. */
export const processBodySchema = z.strictObject({
  status: textUpTo(limits.statusCharactersMax).optional(),
  ended: z.boolean().default(false),
})
export type ProcessBody = z.input<typeof processBodySchema>
