import { z } from 'zod'
import { contextRequestSchema } from '../contexts/contexts.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema, timeSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { isoTimeSchema, named, wholeNumberSchema } from './common.js'

const { model, budget, strategy } = contextRequestSchema.shape

/** The compaction to plan: that of the thread's settings, or of a request that overrides them. */
export const prunePlanRequestSchema = z.strictObject({
  thread: nameSchema,
  /** Checked against the thread's agent. */
  agent: nameSchema.optional(),
  model,
  budget,
  strategy,
})
export type PlanOptions = z.input<typeof prunePlanRequestSchema>

export const prunePlanQuerySchema = prunePlanRequestSchema
  .omit({ thread: true })
  .extend({ budget: wholeNumberSchema.pipe(budget.unwrap()).optional() })

const plannedMessageSchema = z.object({
  messageId: idSchema,
  seq: z.int(),
  reference: z.string(),
  role: z.string(),
  action: z.enum(['condense', 'remove', 'stub', 'summarize']),
  reason: z.string(),
  /** The text that replaces it, or inputs of its calls; empty if the message would be removed. */
  text: z.string(),
  tokensBefore: z.int(),
  tokensAfter: z.int(),
})
/** The effect that a compaction would have on one message. */
export type PlannedMessage = OutputOf<typeof plannedMessageSchema>

export const prunePlanSchema = named(
  'PrunePlan',
  z.object({
    thread: z.string(),
    agent: z.string(),
    limitTokens: z.int(),
    /** Whether the thread has grown past its trigger, so that a compaction is due. */
    due: z.boolean(),
    tokensBefore: z.int(),
    tokensAfter: z.int(),
    tokensFreed: z.int(),
    messages: z.array(plannedMessageSchema),
  }),
)
export type PrunePlan = OutputOf<typeof prunePlanSchema>

const sequence = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

/** One message of a thread, or a range. */
const selection = {
  thread: nameSchema,
  /** Checked against the thread's agent. */
  agent: nameSchema.optional(),
  /** One message, by its id or its reference. */
  messageId: z.string().min(1).max(limits.referenceCharactersMax).optional(),
  /** A range of sequence numbers, both ends included. */
  fromSeq: sequence.optional(),
  toSeq: sequence.optional(),
}

export const compressSchema = z.strictObject({
  thread: nameSchema,
  /** Checked against the thread's agent. */
  agent: nameSchema.optional(),
})
export interface CompressOptions extends z.input<typeof compressSchema> {
  /** How long the summary is waited for, in milliseconds. Default 30,000. */
  readonly deadlineMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}
export const compressBodySchema = named('CompressBody', compressSchema.omit({ thread: true }))

export const compressedSchema = named(
  'Compressed',
  z.object({
    thread: z.string(),
    agent: z.string(),
    /** Whether a compaction was made: false if nothing was left to compact. */
    compacted: z.boolean(),
    tokensBefore: z.int(),
    /** As contexts show the thread from now on; the same as before if nothing was compacted. */
    tokensAfter: z.int(),
    /** Messages that the compaction condensed to a line, replaced by a stub, or removed. */
    condensed: z.int(),
    stubbed: z.int(),
    removed: z.int(),
    /** Messages that the summary covers and that no earlier one covered. */
    summarized: z.int(),
    /** The summary that contexts show now; null without one, and for a key that may not read. */
    summary: z
      .object({ id: idSchema, text: z.string(), tokens: z.int(), coveredCount: z.int(), summarizer: z.string() })
      .nullable(),
  }),
)
export type CompressResult = OutputOf<typeof compressedSchema>

export const uncompactSchema = z.strictObject({
  ...selection,
  /** Every message of the thread. */
  all: z.literal(true).optional(),
  /** Permits compactions of these messages again, instead of undoing them. */
  redo: z.boolean().optional(),
})
export type UncompactOptions = z.input<typeof uncompactSchema>
export const uncompactBodySchema = named('UncompactBody', uncompactSchema.omit({ thread: true }))

export const uncompactedSchema = named(
  'Uncompacted',
  z.object({
    thread: z.string(),
    agent: z.string(),
    action: z.enum(['undone', 'redone']),
    /** Messages that contexts show verbatim again if they fit; with `redo` those that may be compacted again. */
    messages: z.int(),
    /** Compactions that are repeated because of it. */
    compactions: z.int(),
  }),
)
export type UncompactResult = OutputOf<typeof uncompactedSchema>

/** A message or a range is given, and not both. */
export const eraseMessagesSchema = z.strictObject(selection)
export type EraseMessagesOptions = z.input<typeof eraseMessagesSchema>

export const unpinSchema = z.strictObject(selection)
export type UnpinOptions = z.input<typeof unpinSchema>
/** A message or a range, in a query. */
export const selectedMessagesQuerySchema = unpinSchema
  .omit({ thread: true })
  .extend({ fromSeq: wholeNumberSchema.pipe(sequence).optional(), toSeq: wholeNumberSchema.pipe(sequence).optional() })

export const pinSchema = unpinSchema.extend({
  /** When the pin ends, in the future; it is taken back within two minutes. Default: it has no end. */
  until: timeSchema.optional(),
})
export type PinOptions = z.input<typeof pinSchema>
export const pinBodySchema = named('PinBody', pinSchema.omit({ thread: true }))

export const pinChangeSchema = named(
  'PinChange',
  z.object({
    thread: z.string(),
    agent: z.string(),
    action: z.enum(['pinned', 'unpinned']),
    /** Messages whose pin was changed; one that was pinned so already is not counted. */
    messages: z.int(),
    /** Compactions that are repeated because of it. */
    compactions: z.int(),
  }),
)
export type PinResult = OutputOf<typeof pinChangeSchema>

const pinSchemaOfList = z.object({
  messageId: idSchema,
  seq: z.int(),
  reference: z.string(),
  role: z.string(),
  /** The beginning of its text. */
  text: z.string(),
  pinnedAt: isoTimeSchema,
  until: isoTimeSchema.nullable(),
})
/** A pin that was set on a stored message. A message appended with `pinned` has that field in the history instead. */
export type PinEntry = OutputOf<typeof pinSchemaOfList>
/** A thread has at most {@link limits.pinsPerThreadMax} pins: the list has one page. */
export const pinListSchema = named('PinList', z.object({ items: z.array(pinSchemaOfList), nextCursor: z.null() }))
