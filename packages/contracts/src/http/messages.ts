import { z } from 'zod'
import {
  messageBodySchema,
  onUsedIdSchema,
  roles,
  sourceIdSchema,
  thinkingBlockSchema,
  toolCallSchema,
} from '../messages/messages.js'
import { storedPartSchema } from '../messages/parts.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { momentSchema } from '../recall/archive.js'
import { settingsSchema } from '../settings/settings.js'
import { formats } from '../settings/strategies.js'
import { appendWarningSchema } from '../warnings.js'
import {
  isoTimeSchema,
  jsonRecordSchema,
  named,
  orderedPageQuerySchema,
  pageQuerySchema,
  pageSchema,
  tooMany,
} from './common.js'

const appendFields = {
  agent: nameSchema,
  /** The context that the replies answered. */
  contextId: idSchema.optional(),
  /** `stored` (the default): answer after the commit; `queued`: answer once the messages are in the queue. */
  ack: z.enum(['queued', 'stored'], { error: 'must be queued or stored' }).optional(),
  /**
   * The rolling window, in seconds, of an agent created by this append; null shows messages of all ages. The settings
   * of an existing agent are unchanged.
   */
  newAgentRollingWindow: settingsSchema.shape.rollingWindow.optional(),
  /** `refuse` (the default) the append if the thread has another message with the id of one, or `keep` the stored message. */
  onUsedId: onUsedIdSchema.optional(),
}
const listOf = <Entry extends z.ZodType>(entry: Entry) =>
  z.array(entry).min(1).max(limits.httpListItemsMax, tooMany('messages'))

/** Formats besides Heddle's own. Their contents are checked by their readers, which report paths within them. */
const providerFormats = formats.filter((format) => format !== 'neutral')

/** A message of a request, or an unmodified reply, in the form of a provider's package. */
const providerMessageSchema = named('ProviderMessage', jsonRecordSchema)

const neutralAppendBodySchema = named(
  'AppendBody',
  z.strictObject({
    ...appendFields,
    format: z.literal('neutral').optional(),
    messages: listOf(named('Message', messageBodySchema)),
  }),
)
const providerAppendBodySchema = named(
  'ProviderAppendBody',
  z.strictObject({
    ...appendFields,
    format: z.enum(providerFormats),
    messages: listOf(providerMessageSchema),
  }),
)
const byFormat = { error: `must be one of ${formats.join(', ')}` }
export const appendBodySchema = z.discriminatedUnion(
  'format',
  [neutralAppendBodySchema, providerAppendBodySchema],
  byFormat,
)
/** The body before its messages are parsed, which the client of the handler does for all its callers. */
export const receivedAppendBodySchema = z.discriminatedUnion(
  'format',
  [neutralAppendBodySchema.extend({ messages: listOf(z.unknown()) }), providerAppendBodySchema],
  byFormat,
)

/** Messages that a request for a context appends first. */
export const turnFields = {
  /** Messages to append to the thread before the context is built. With them the body needs an `agent`. */
  append: listOf(z.union([named('Message', messageBodySchema), providerMessageSchema])).optional(),
  /** The format of the messages in `append`; `format` is that of the context. Default `neutral`. */
  appendFormat: z.enum(formats, { error: `must be one of ${formats.join(', ')}` }).optional(),
}
/** The same before the messages are parsed. */
export const receivedTurnFields = { ...turnFields, append: listOf(z.unknown()).optional() }

/** The same for models, whose tools take one object. */
export const appendToolInputSchema = z.strictObject({
  agent: nameSchema,
  thread: nameSchema,
  format: z.enum(formats, { error: `must be one of ${formats.join(', ')}` }).optional(),
  contextId: appendFields.contextId,
  newAgentRollingWindow: appendFields.newAgentRollingWindow,
  messages: listOf(z.union([messageBodySchema, providerMessageSchema])),
})
export type AppendBody = z.infer<typeof appendBodySchema>

export const appendedSchema = named(
  'Appended',
  z.object({
    threadId: idSchema,
    /** Messages that this request added; with `ack: queued` those that were sent. */
    stored: z.int(),
    /** Messages that were stored before (not checked with `ack: queued`), or that occur earlier in this append. */
    repeated: z.int(),
    /** Messages of this append that contexts do not show, by reason. Absent without such messages, or if they are unknown. */
    warnings: z.array(appendWarningSchema).optional(),
  }),
)
export type AppendResult = OutputOf<typeof appendedSchema>

export const messageEntrySchema = named(
  'MessageEntry',
  z.object({
    thread: z.string(),
    agent: z.string(),
    id: idSchema,
    /** Position in the order of storing; the cursor after this message. */
    seq: z.int(),
    /** The short reference for recalling the message. */
    reference: z.string(),
    role: z.enum(roles),
    content: z.string(),
    /** Images, documents and sounds, without their bytes, which are recalled by the reference of the part. */
    parts: z.array(named('StoredPart', storedPartSchema.extend({ reference: z.string() }))).optional(),
    thinking: z.array(thinkingBlockSchema).optional(),
    toolCalls: z.array(toolCallSchema).optional(),
    toolCallId: z.string().optional(),
    toolName: z.string().optional(),
    isError: z.literal(true).optional(),
    /** The message's id at its source, for routing replies. */
    sourceId: z.string().optional(),
    sentAt: isoTimeSchema.optional(),
    /** Position in the conversation: `sentAt`, limited for clock skew. */
    orderedAt: isoTimeSchema,
    receivedAt: isoTimeSchema,
    model: z.string().optional(),
    usage: jsonRecordSchema.optional(),
    contextId: idSchema.optional(),
    /** The context that it answers is recorded, as its request context (docs/receipts.md). */
    hasRequestContext: z.literal(true).optional(),
    pinned: z.literal(true).optional(),
    keptAside: z.string().optional(),
    metadata: jsonRecordSchema.optional(),
    tokens: z.int(),
    /** Whether a context built now may show it, at its original position or where it was restored. */
    inWindow: z.boolean(),
    /** The latest restore of the message: the snapshot, and its new position in the conversation. */
    restored: z.object({ snapshot: idSchema.nullable(), at: isoTimeSchema }).optional(),
  }),
)
/** A message as it was appended, with its current state. Fields that the producer did not send are absent. */
export type MessageEntry = OutputOf<typeof messageEntrySchema>
export const messagePageSchema = named('MessagePage', pageSchema(messageEntrySchema))

/** Which messages of an agent are listed, in which order. */
export const agentMessagesQuerySchema = orderedPageQuerySchema.extend({
  /** Messages at or after this moment, by their position in the conversation. */
  since: momentSchema.optional(),
  /** Messages before this moment. */
  until: momentSchema.optional(),
})

export const findMessagesQuerySchema = pageQuerySchema.extend({
  /** The message's id at its source, exactly as it was appended. */
  sourceId: sourceIdSchema,
  /** Only threads of this agent. */
  agent: nameSchema.optional(),
  thread: nameSchema.optional(),
})
