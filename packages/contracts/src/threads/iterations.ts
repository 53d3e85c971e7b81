import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { idSchema, timeSchema } from '../primitives/names.js'

const longText = z
  .string()
  .max(limits.messageCharactersMax, `must have at most ${limits.messageCharactersMax} characters`)
const words = z.array(z.string().max(limits.nameCharactersMax * 50)).max(limits.iterationListItemsMax)

/** A file change during an iteration, as the producer names it: `modified`. */
export const fileEventSchema = z.strictObject({
  path: z.string().min(1).max(4_096),
  event: z.string().min(1).max(100),
  timestamp: timeSchema.optional(),
})
export type FileEvent = z.infer<typeof fileEventSchema>

/** One step of an autonomous run (docs/iterations.md), with its complete texts: only contexts cut them. */
export const iterationInputSchema = z.strictObject({
  /** A UUID chosen by the producer: the idempotency key of the iteration in its thread. */
  id: idSchema,
  /** Default: the highest of the thread plus one. */
  iterationNumber: z.int().min(0).max(limits.iterationNumberMax).optional(),
  /** Default: the time of the append. */
  timestamp: timeSchema.optional(),
  cliUsed: z.string().min(1).max(200).optional(),
  modelUsed: z.string().min(1).max(200).optional(),
  prompt: longText,
  /** May be empty: an iteration without output counts too. */
  output: longText,
  progressScore: z.number().optional(),
  progressMarkers: words.optional(),
  fileChanges: words.optional(),
  fileEvents: z.array(fileEventSchema).max(limits.iterationListItemsMax).optional(),
  durationSeconds: z.number().min(0).optional(),
})
export type IterationInput = z.infer<typeof iterationInputSchema>

/** The fields of an iteration besides those of its message: its id, its time and its output. */
export const iterationFieldsSchema = iterationInputSchema.omit({ id: true, timestamp: true, output: true })
export type IterationFields = z.infer<typeof iterationFieldsSchema>
