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
    /** The sentences that are to hold from then on, word for word; of those that were taken back only if all were. */
    text: z.string(),
    /** Whether every context of its thread has the message verbatim. */
    pinned: z.boolean(),
    /** Its extent: its thread, all threads of the agent, or its user in all of them. */
    scope: z.enum(['thread', 'agent', 'user']),
    /** The name of the user, if the message has one. */
    user: z.string().nullable(),
    /** The sentence that took it back, or replaced it: it holds no longer. Null while a sentence of it holds. */
    ended: z
      .object({
        at: isoTimeSchema,
        thread: z.string(),
        messageId: idSchema,
        reference: z.string(),
        /** Word for word. */
        text: z.string(),
      })
      .nullable(),
  }),
)
/** A message of a person that asks for something to hold from then on. */
export type StandingInstruction = OutputOf<typeof standingInstructionSchema>
export const standingInstructionPageSchema = named('StandingInstructionPage', pageSchema(standingInstructionSchema))
