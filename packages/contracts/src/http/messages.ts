import { z } from 'zod'
import { messageBodySchema, roles } from '../messages/messages.js'
import { storedPartSchema } from '../messages/parts.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import { settingsSchema } from '../settings/settings.js'
import { formats } from '../settings/strategies.js'
import { fileEventSchema, iterationInputSchema } from '../threads/iterations.js'
import { appendWarningSchema } from '../warnings.js'
import { isoTimeSchema, jsonRecordSchema, named, pageSchema } from './common.js'

const tooMany = (what: string) => `must have at most ${limits.httpListItemsMax} ${what}`

const appendFields = {
  agent: nameSchema,
  /** The context that the replies in it answered. */
  contextId: idSchema.optional(),
  /** `stored` (the default): they are committed; `queued`: the queue has them. */
  ack: z.enum(['queued', 'stored'], { error: 'must be queued or stored' }).optional(),
  /**
   * The rolling window, in seconds, of an agent that this append makes; null shows messages of all ages. The settings of an
   * agent that is there stay as they are.
   */
  newAgentRollingWindow: settingsSchema.shape.rollingWindow.optional(),
}
const listOf = <Entry extends z.ZodType>(entry: Entry) =>
  z.array(entry).min(1).max(limits.httpListItemsMax, tooMany('messages'))

/** Formats besides Heddle's own. What is in them is checked where it is read, which names it by its path there. */
const providerFormats = formats.filter((format) => format !== 'neutral')

/** A message of a request, or a reply as it came, in the form of a provider's package. */
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
export const appendBodySchema = z.discriminatedUnion('format', [neutralAppendBodySchema, providerAppendBodySchema], {
  error: `must be one of ${formats.join(', ')}`,
})

/** The same for a model, whose tools take one object. */
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
    /** Messages that were stored before. */
    repeated: z.int(),
    /** Messages that contexts do not show, by reason. Left out where there are none. */
    warnings: z.array(appendWarningSchema).optional(),
  }),
)

export const messageEntrySchema = named(
  'MessageEntry',
  z.object({
    thread: z.string(),
    agent: z.string(),
    id: idSchema,
    /** Place in the order of storing. */
    seq: z.int(),
    /** The short reference under which the message can be recalled. */
    reference: z.string(),
    role: z.enum(roles),
    content: z.string(),
    /** Images, documents and sounds, without their bytes: recall brings those by the reference of the part. */
    parts: z.array(named('StoredPart', storedPartSchema.extend({ reference: z.string() }))).optional(),
    thinking: z.array(jsonRecordSchema).optional(),
    toolCalls: z.array(jsonRecordSchema).optional(),
    toolCallId: z.string().optional(),
    toolName: z.string().optional(),
    isError: z.literal(true).optional(),
    sourceId: z.string().optional(),
    sentAt: isoTimeSchema.optional(),
    orderedAt: isoTimeSchema,
    receivedAt: isoTimeSchema,
    model: z.string().optional(),
    usage: jsonRecordSchema.optional(),
    contextId: idSchema.optional(),
    pinned: z.literal(true).optional(),
    keptAside: z.string().optional(),
    metadata: jsonRecordSchema.optional(),
    tokens: z.int(),
    /** Whether a context that is built now may show it. */
    inWindow: z.boolean(),
    /** The latest restore that brought it back, and its place in the conversation since. */
    restored: z.object({ snapshot: idSchema.nullable(), at: isoTimeSchema }).optional(),
  }),
)
export const messagePageSchema = named('MessagePage', pageSchema(messageEntrySchema))

export const iterationsBodySchema = named(
  'IterationsBody',
  z.strictObject({
    agent: nameSchema,
    iterations: z
      .array(named('Iteration', iterationInputSchema.extend({ id: idSchema.optional() })))
      .min(1)
      .max(limits.httpListItemsMax, tooMany('iterations')),
  }),
)
export type IterationsBody = z.infer<typeof iterationsBodySchema>

export const iterationsAppendedSchema = named(
  'IterationsAppended',
  appendedSchema.omit({ warnings: true }).extend({
    /** The number of each iteration, in their order. */
    iterationNumbers: z.array(z.int()),
  }),
)

export const iterationEntrySchema = named(
  'IterationEntry',
  z.object({
    id: idSchema,
    iterationNumber: z.int(),
    timestamp: isoTimeSchema,
    cliUsed: z.string().nullable(),
    modelUsed: z.string().nullable(),
    prompt: z.string(),
    output: z.string(),
    progressScore: z.number().nullable(),
    progressMarkers: z.array(z.string()),
    fileChanges: z.array(z.string()),
    fileEvents: z.array(fileEventSchema),
    durationSeconds: z.number().nullable(),
  }),
)
export const iterationPageSchema = named('IterationPage', pageSchema(iterationEntrySchema))
