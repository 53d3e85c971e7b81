import { z } from 'zod'
import { idSchema } from '../primitives/names.js'
import { entryModes } from './contexts.js'

/** How a line of a receipt stands in one of the two contexts. */
const standingSchema = z.object({
  section: z.string(),
  mode: z.enum(entryModes),
  tokens: z.int().min(0),
  reason: z.string(),
})
export type Standing = z.infer<typeof standingSchema>

/** A message, an iteration, an item or a fixed part that does not stand in both contexts as it does in one. */
const diffLineSchema = z.object({
  /** `message msg-1a2b3c4d`, `iteration 7`, `rule style`, or the section of a fixed part, such as `status`. */
  what: z.string(),
  role: z.string().optional(),
  /** The sequence number of a message in its thread. */
  seq: z.int().optional(),
  messageId: idSchema.optional(),
  /** Null where the context does not name it: it came later, or is out of the window, or is among many that are only counted. */
  before: standingSchema.nullable(),
  after: standingSchema.nullable(),
})
export type DiffLine = z.infer<typeof diffLineSchema>

const tokensOfBothSchema = z.object({ before: z.int().min(0), after: z.int().min(0) })

/** What became of one context in another. */
export const contextDiffSchema = z.object({
  before: idSchema,
  after: idSchema,
  tokens: tokensOfBothSchema,
  sections: z.array(tokensOfBothSchema.extend({ name: z.string() })),
  /** What else the two do not have in common, such as the budget, the strategy or the agent's version; as JSON. */
  settings: z.array(z.object({ name: z.string(), before: z.json(), after: z.json() })),
  /** Shown in the second only. */
  cameIn: z.array(diffLineSchema),
  /** Shown in the first only. */
  wentOut: z.array(diffLineSchema),
  /** Shown in both, in another form or at another size. */
  changed: z.array(diffLineSchema),
  /** Shown in both, at another place among those that both show. */
  moved: z.array(diffLineSchema),
  /** The delivered pieces, blocks of messages or whole ones, as a provider's cache compares them. */
  delivered: z.object({
    before: z.int().min(0),
    after: z.int().min(0),
    /** Pieces that are in both, wherever they stand. */
    same: z.int().min(0),
    /** Tokens with which both begin; 0 where their formats differ. */
    sharedPrefixTokens: z.int().min(0),
  }),
})
export type ContextDiff = z.infer<typeof contextDiffSchema>
