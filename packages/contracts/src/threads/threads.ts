import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { timeSchema } from '../primitives/names.js'
import { partialSettingsSchema } from '../settings/settings.js'

const textUpTo = (charactersMax: number) =>
  z.string().min(1, 'must not be empty').max(charactersMax, `must have at most ${charactersMax} characters`)

/** What a run knows besides its iterations (docs/iterations.md). Where it is left out, the iterations say what they know of it. */
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
  goal: textUpTo(limits.goalCharactersMax).nullable(),
  /** How the thread stands. A thread with a status is shown to the agent's other threads. */
  status: textUpTo(limits.statusCharactersMax).nullable(),
  /** Settings over the agent's. */
  settings: partialSettingsSchema,
  loop: loopSchema.nullable(),
})

/** What a thread is about and how it stands. What is left out stays as it is; null takes it away. */
export const threadDetailsSchema = detailsSchema.partial()
export type ThreadDetails = z.infer<typeof threadDetailsSchema>

/** How a process of a thread stands. The first word about a process needs its status. */
export const processBodySchema = z.strictObject({
  status: textUpTo(limits.statusCharactersMax).optional(),
  ended: z.boolean().default(false),
})
export type ProcessBody = z.input<typeof processBodySchema>
