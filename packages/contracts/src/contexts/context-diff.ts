import { z } from 'zod'
import { idSchema } from '../primitives/names.js'
import { entryModes } from './contexts.js'

/** The entry of a receipt line in one of two contexts. */
const standingSchema = z.object({
  section: z.string(),
  mode: z.enum(entryModes),
  tokens: z.int().min(0),
  reason: z.string(),
})
export type Standing = z.infer<typeof standingSchema>

/** A message, an iteration, an item or a fixed part that differs between the two contexts. */
const diffLineSchema = z.object({
  /** `message msg-1a2b3c4d`, `iteration 7`, `rule style`, or the section of a fixed part, such as `status`. */
  what: z.string(),
  role: z.string().optional(),
  /** The sequence number of a message in its thread. */
  seq: z.int().optional(),
  messageId: idSchema.optional(),
  /**
   * Null if the context does not name it: it came later, is outside the window, or is one of many that are only
   * counted.
   */
  before: standingSchema.nullable(),
  after: standingSchema.nullable(),
})
export type DiffLine = z.infer<typeof diffLineSchema>

const tokensOfBothSchema = z.object({ before: z.int().min(0), after: z.int().min(0) })

/** The difference between two contexts. */
export const contextDiffSchema = z.object({
  before: idSchema,
  after: idSchema,
  tokens: tokensOfBothSchema,
  sections: z.array(tokensOfBothSchema.extend({ name: z.string() })),
  /** Other differences, such as the budget, the strategy or the agent's version; as JSON. */
  settings: z.array(z.object({ name: z.string(), before: z.json(), after: z.json() })),
  /** Shown only in the second. */
  cameIn: z.array(diffLineSchema),
  /** Shown only in the first. */
  wentOut: z.array(diffLineSchema),
  /** Shown in both, but in another form or at another size. */
  changed: z.array(diffLineSchema),
  /** Shown in both, but at another position relative to the other common entries. */
  moved: z.array(diffLineSchema),
  /** The delivered pieces, messages or their blocks, as a provider's cache compares them. */
  delivered: z.object({
    before: z.int().min(0),
    after: z.int().min(0),
    /** Pieces in both contexts, at any position. */
    same: z.int().min(0),
    /** Tokens of the common prefix; 0 if the formats differ. */
    sharedPrefixTokens: z.int().min(0),
  }),
})
export type ContextDiff = z.infer<typeof contextDiffSchema>
