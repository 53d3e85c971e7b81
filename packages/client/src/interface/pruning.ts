import { contextRequestSchema, limits, nameSchema } from '@heddle/contracts'
import { z } from 'zod'

export const planSchema = z.strictObject({
  thread: nameSchema,
  agent: nameSchema.optional(),
  model: contextRequestSchema.shape.model,
  budget: contextRequestSchema.shape.budget,
  strategy: contextRequestSchema.shape.strategy,
})

export type PlanOptions = z.input<typeof planSchema>

/** What a compaction would do to one message. */
export interface PlannedMessage {
  readonly messageId: string
  readonly seq: number
  readonly reference: string
  readonly role: string
  readonly action: 'condense' | 'remove' | 'stub' | 'summarize'
  readonly reason: string
  /** What would stand in its place; empty where nothing would. */
  readonly text: string
  readonly tokensBefore: number
  readonly tokensAfter: number
}

export interface PrunePlan {
  readonly thread: string
  readonly agent: string
  readonly limitTokens: number
  /** Whether the thread has grown past its trigger, so that a compaction comes by itself. */
  readonly due: boolean
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly tokensFreed: number
  readonly messages: readonly PlannedMessage[]
}

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
  /** Hands the messages back to compactions instead. */
  redo: z.boolean().optional(),
})

export type UncompactOptions = z.input<typeof uncompactSchema>

export interface UncompactResult {
  readonly thread: string
  readonly agent: string
  readonly action: 'undone' | 'redone'
  /** Messages that stand verbatim again where they fit; with `redo` those that compactions may take again. */
  readonly messages: number
  /** Compactions that are made again because of it. */
  readonly compactions: number
}
