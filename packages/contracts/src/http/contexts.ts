import { z } from 'zod'
import { contextDiffSchema } from '../contexts/context-diff.js'
import { contextRequestSchema, contextResultSchema, receiptSchema } from '../contexts/contexts.js'
import type { JsonObject } from '../primitives/json.js'
import { idSchema, nameSchema, timeSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { flagQuerySchema, isoTimeSchema, named, pageSchema } from './common.js'
import { appendedSchema, receivedTurnFields, turnFields } from './messages.js'

export const contextParamsSchema = z.strictObject({ context: idSchema })
export const contextQuerySchema = z.strictObject({
  /** `true`: rebuild from stored data, even if the delivered bytes are still cached. */
  rebuild: flagQuerySchema.optional(),
})
export const momentParamsSchema = z.strictObject({ thread: nameSchema, at: timeSchema })
export const contextPairParamsSchema = z.strictObject({ context: idSchema, other: idSchema })

/** A request for a context; its thread is in the path. */
export const contextBodySchema = named('ContextBody', contextRequestSchema.omit({ thread: true }).extend(turnFields))
/** The body before the messages of `append` are parsed, which the client of the handler does for all its callers. */
export const receivedContextBodySchema = contextBodySchema.extend(receivedTurnFields)
/** Any JSON: messages of a context were checked when it was built. */
const formattedMessageSchema: z.ZodType<JsonObject> = z.record(z.string(), z.any())

export const contextSchema = named(
  'Context',
  contextResultSchema.extend({
    /** In the requested format. */
    messages: z.array(formattedMessageSchema),
    /** For a request with `append`: the result of appending its messages. */
    appended: appendedSchema.optional(),
  }),
)
export const httpReceiptSchema = named('Receipt', receiptSchema)
export const httpContextDiffSchema = named('ContextDiff', contextDiffSchema)

/** A context that is still being built. */
export const contextRequestedSchema = named(
  'ContextRequested',
  z.object({ id: idSchema, status: z.literal('requested') }),
)

export const contextSummarySchema = named(
  'ContextSummary',
  z.object({
    id: idSchema,
    thread: z.string(),
    status: z.enum(['requested', 'built', 'failed']),
    budget: z.int().nullable(),
    tokensUsed: z.int().nullable(),
    requestedAt: isoTimeSchema,
    builtAt: isoTimeSchema.nullable(),
  }),
)
/** A context without its messages. */
export type ContextSummary = OutputOf<typeof contextSummarySchema>
export const contextPageSchema = named('ContextPage', pageSchema(contextSummarySchema))
