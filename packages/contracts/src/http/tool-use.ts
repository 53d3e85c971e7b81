import { z } from 'zod'
import { roles } from '../messages/messages.js'
import { idSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { archiveListSchema } from '../recall/archive.js'
import { isoTimeSchema, named, pageQuerySchema, pageSchema } from './common.js'

export const toolUseSchema = named(
  'ToolUse',
  z.object({
    /** The name of the tool; null for results that were appended without one. */
    tool: z.string().nullable(),
    results: z.int(),
    /** Results that reported an error. */
    failed: z.int(),
    /** Tokens of the results as they were appended. */
    tokens: z.int(),
    /** Tokens of the largest result. */
    largestTokens: z.int(),
    /** Results of which contexts show a shorter form, or none. */
    condensed: z.int(),
    /** Their tokens as they were appended. */
    condensedTokens: z.int(),
    /** Results that the requested context shows, and their tokens in it; null without such a request. */
    shown: z.object({ results: z.int(), tokens: z.int() }).nullable(),
  }),
)
/** The cost of a tool's results in a thread. */
export type ToolUse = OutputOf<typeof toolUseSchema>
export const toolUsePageSchema = named('ToolUsePage', pageSchema(toolUseSchema))

export const toolUseQuerySchema = z.strictObject({
  /** The id of a context: `shown` then says what it shows of each tool. */
  context: idSchema.optional(),
})
export type ToolUseOptions = z.input<typeof toolUseQuerySchema>

export const largestMessagesQuerySchema = pageQuerySchema.extend({
  /** Only results of this tool. */
  tool: archiveListSchema.shape.tool,
})

export const largestMessageSchema = named(
  'LargestMessage',
  z.object({
    id: idSchema,
    /** Position in the order of storing. */
    seq: z.int(),
    /** The short reference for recalling the message. */
    reference: z.string(),
    role: z.enum(roles),
    toolName: z.string().nullable(),
    isError: z.boolean(),
    tokens: z.int(),
    /** Whether contexts show a shorter form, or none: its content is in the archive. */
    condensed: z.boolean(),
    orderedAt: isoTimeSchema,
    /** The beginning of its content. */
    excerpt: z.string(),
  }),
)
/** A message with its size, without its whole content. */
export type LargestMessage = OutputOf<typeof largestMessageSchema>
export const largestMessagePageSchema = named('LargestMessagePage', pageSchema(largestMessageSchema))
