import { z } from 'zod'
import { errorCodes } from './errors.js'
import { limits } from './limits.js'
import { idSchema, nameSchema } from './names.js'
import { strategies } from './settings.js'

export const formats = ['neutral', 'openai-chat', 'anthropic'] as const
export type FormatName = (typeof formats)[number]

export const counters = ['o200k', 'characters'] as const
export type CounterName = (typeof counters)[number]

/** What an agent asks for. Fields left out come from the agent's settings. */
export const contextRequestSchema = z.strictObject({
  thread: nameSchema,
  /** Names the agent of a thread that may not exist yet; checked against the thread's agent where it does. */
  agent: nameSchema.optional(),
  /** The user's new message, which closes the context; it is not stored. */
  message: z.string().min(1).max(limits.messageCharactersMax).optional(),
  model: z.string().min(1).max(200).optional(),
  /** Tokens. Its message is spec 003's (CX-NT1). */
  budget: z
    .int({ error: 'must be a whole number of tokens' })
    .min(1, 'Context limit must be positive')
    .max(limits.budgetTokensMax, `must be at most ${limits.budgetTokensMax}`)
    .optional(),
  strategy: z.enum(strategies, { error: `must be one of ${strategies.join(', ')}` }).optional(),
  format: z.enum(formats, { error: `must be one of ${formats.join(', ')}` }).optional(),
  counter: z.enum(counters, { error: `must be one of ${counters.join(', ')}` }).optional(),
})
export type ContextRequest = z.infer<typeof contextRequestSchema>

/** How a message stands in a context. */
export const entryModes = [
  'raw',
  'condensed',
  'stub',
  'elided',
  'result-as-text',
  'removed',
  'covered',
  'left-out',
] as const
export type EntryMode = (typeof entryModes)[number]

/**
 * One line of a receipt: a message of its own, or a run of messages that share a fate (`count` > 1). The counts of all
 * entries of a context add up to its eligible messages (DESIGN: invariants 3 and 12).
 */
export const receiptEntrySchema = z.object({
  section: z.string(),
  mode: z.enum(entryModes),
  /** Messages that this line accounts for; 0 for a line that is no message, such as a system prompt or a summary. */
  count: z.int().min(0),
  /** Sequence numbers of the first and the last message of the line. */
  fromSeq: z.int().optional(),
  toSeq: z.int().optional(),
  messageId: idSchema.optional(),
  reference: z.string().optional(),
  role: z.string().optional(),
  tokens: z.int().min(0),
  /** What the messages would have cost verbatim. */
  tokensRaw: z.int().min(0).optional(),
  reason: z.string(),
})
export type ReceiptEntry = z.infer<typeof receiptEntrySchema>

export const receiptSchema = z.object({
  rendererVersion: z.int(),
  eligible: z.int(),
  imported: z.int(),
  /** Messages that never enter a context, by reason: compact summaries, errors, approvals, or outside the window. */
  ineligible: z.record(z.string(), z.int()),
  counter: z.enum(counters),
  model: z.string().nullable(),
  agentVersion: z.int(),
  stateId: idSchema.nullable(),
  clearEpoch: z.int(),
  headSeq: z.int(),
  sections: z.array(z.object({ name: z.string(), tokens: z.int(), count: z.int() })),
  entries: z.array(receiptEntrySchema),
  /** Deviations that the reader should know of: a fallback that served, a call without a result that was answered. */
  notes: z.array(z.string()),
  tokensRaw: z.int(),
})
export type Receipt = z.infer<typeof receiptSchema>

/** A built context as it is delivered. `messages` are in the request's format. */
export const contextResultSchema = z.object({
  id: idSchema,
  thread: z.string(),
  agent: z.string(),
  format: z.enum(formats),
  strategy: z.enum(strategies),
  budget: z.int(),
  tokensUsed: z.int(),
  summaryUsed: z.boolean(),
  /** Anthropic takes the system prompt beside the messages; null in the other formats. */
  system: z.string().nullable(),
  messages: z.array(z.record(z.string(), z.json())),
  receipt: receiptSchema,
})
export type ContextResult = z.infer<typeof contextResultSchema>

export const errorDataSchema = z.object({
  code: z.enum(errorCodes),
  detail: z.string(),
  field: z.string().optional(),
  received: z.string().optional(),
  retryAfter: z.number().optional(),
  hint: z.string().optional(),
  facts: z.record(z.string(), z.unknown()).optional(),
})
