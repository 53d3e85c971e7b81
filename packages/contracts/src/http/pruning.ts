import { z } from 'zod'
import { contextRequestSchema } from '../contexts/contexts.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema } from '../primitives/names.js'
import type { OutputOf } from '../primitives/output-of.js'
import { named, wholeNumberSchema } from './common.js'

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
  /** The replacement text; empty if the message would be removed. */
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

export const uncompactSchema = z.strictObject({
  thread: nameSchema,
  /** Checked against the thread's agent. */
  agent: nameSchema.optional(),
  /** One message, by its id or its reference. */
  message: z.string().min(1).max(limits.nameCharactersMax).optional(),
  /** A range of sequence numbers, both ends included. */
  fromSeq: sequence.optional(),
  toSeq: sequence.optional(),
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
