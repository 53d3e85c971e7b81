import { z } from 'zod'
import { includedItemSchema } from '../items/items.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { momentSchema } from '../recall/archive.js'
import { isoTimeSchema, named } from './common.js'

/** The id of a message, or its reference: `msg-1a2b3c4d`. */
const messageNameSchema = z.union([idSchema, z.string().regex(/^msg-[0-9a-z]{8,24}$/)], {
  error: 'must be the id of a message, or its reference such as msg-1a2b3c4d',
})
export const threadMessageParamsSchema = z.strictObject({ thread: nameSchema, message: messageNameSchema })
export const messageParamsSchema = threadMessageParamsSchema.pick({ message: true })
export const replyNameSchema = threadMessageParamsSchema.partial({ thread: true })
/** A reply, by its id or reference; without a thread it is looked for in all threads of the project. */
export type ReplyName = z.infer<typeof replyNameSchema>

export const requestContextSchema = named(
  'RequestContext',
  z.object({
    /** The context; it may no longer be stored. */
    context: idSchema,
    thread: z.string(),
    agent: z.string(),
    /** The reply; in an export, the first message that answers the context. */
    message: idSchema,
    builtAt: isoTimeSchema,
    /** Null in records of earlier versions, as are the two below. */
    agentVersion: z.int().nullable(),
    budget: z.int().nullable(),
    tokensUsed: z.int().nullable(),
    /** The sections that showed something, in their order; empty in records of earlier versions. */
    sections: z.array(z.object({ name: z.string(), count: z.int(), tokens: z.int() })),
    /** The items that it showed, in the versions that it showed, without their texts. */
    items: z.array(
      includedItemSchema.extend({
        tokens: z.int(),
        description: z.string().nullable(),
        priorityLevel: z.int().nullable(),
        /** Whether the reply used it, as far as a text shows. */
        isUsed: z.boolean(),
        /** Whether this version is the item's current one. */
        isCurrent: z.boolean(),
      }),
    ),
  }),
)
/** The record of a context that a reply answers, which stays as long as the reply (docs/receipts.md). */
export type RequestContext = OutputOf<typeof requestContextSchema>

export const requestContextsQuerySchema = z.strictObject({
  /** Contexts built at or after this moment. */
  since: momentSchema.optional(),
})
export type RequestContextsQuery = z.input<typeof requestContextsQuerySchema>

/** A line of an export: a request context, or the number of records at the end. */
export const requestContextLineSchema = named(
  'RequestContextLine',
  z.discriminatedUnion('type', [
    requestContextSchema.extend({ type: z.literal('requestContext') }),
    z.object({ type: z.literal('end'), records: z.int() }),
  ]),
)
