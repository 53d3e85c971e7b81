import { z } from 'zod'
import { idSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { isoTimeSchema, named, pageSchema } from './common.js'

export const standingInstructionSchema = named(
  'StandingInstruction',
  z.object({
    thread: z.string(),
    messageId: idSchema,
    /** The short reference, by which the message is recalled or pinned. */
    reference: z.string(),
    at: isoTimeSchema,
    /** The sentences that are to hold from then on, word for word. */
    text: z.string(),
    /** Whether every context of its thread has the message verbatim. */
    pinned: z.boolean(),
  }),
)
/** A message of a person that asks for something to hold from then on. */
export type StandingInstruction = OutputOf<typeof standingInstructionSchema>
export const standingInstructionPageSchema = named('StandingInstructionPage', pageSchema(standingInstructionSchema))
