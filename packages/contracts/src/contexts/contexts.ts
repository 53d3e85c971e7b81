import { z } from 'zod'
import { errorCodes } from '../errors.js'
import { includedItemSchema, requestItemSchema } from '../items/items.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema, timeSchema } from '../primitives/names.js'
import { settingsSchema } from '../settings/settings.js'
import { fillSchema, formats, strategyNameSchema } from '../settings/strategies.js'
import { scopeReceiptSchema, scopeSchema } from './scope.js'

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
  /** Tokens; see docs/strategies.md#what-a-budget-means. */
  budget: z
    .int({ error: 'must be a whole number of tokens' })
    .min(1, 'Context limit must be positive')
    .max(limits.budgetTokensMax, `must be at most ${limits.budgetTokensMax}`)
    .optional(),
  strategy: strategyNameSchema.optional(),
  /** Seconds of history that this context may show; null shows all ages. Over the settings of the agent and the thread. */
  rollingWindow: settingsSchema.shape.rollingWindow.optional(),
  /** How the budget is filled, over the agent's settings; default by whether the thread is continued at that budget. */
  fill: fillSchema.optional(),
  /** For the strategy `iterations`, over the agent's settings. */
  iterations: settingsSchema.shape.iterations.partial().optional(),
  format: z.enum(formats, { error: `must be one of ${formats.join(', ')}` }).optional(),
  counter: z.enum(counters, { error: `must be one of ${counters.join(', ')}` }).optional(),
  /**
   * Earlier messages that the request is about, found by words and by meaning: of the agent's other threads, and of this one
   * what the window does not hold. Over the agent's setting `search.memories`; `true` takes its limits.
   */
  memories: z
    .union([
      z.boolean(),
      settingsSchema.shape.search.shape.memories.pick({ tokensMax: true, limit: true, minScore: true }).partial(),
    ])
    .optional(),
  /**
   * Prepares the next context of the same request in the background whenever the thread changed, and answers with it where
   * nothing changed since. For requests without a `message`, which is other each time. Default as the settings say.
   */
  prebuild: z.boolean().optional(),
  /** What the context may tell of; see {@link scopeSchema}. Default all of the thread. */
  scope: scopeSchema.optional(),
  /** Asks for the context that the very same request got last up to that moment, which has passed: it is not built anew. */
  at: timeSchema.optional(),
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

/** The earlier message that a line of a receipt recalls, or would have. */
export const memoryEntrySchema = z.object({
  messageId: idSchema,
  /** The name of its thread. */
  thread: z.string(),
  /** What brings all of it back. */
  reference: z.string(),
  /** Higher is better; scores of two contexts cannot be compared. */
  score: z.number(),
  /** Its place in time, as ISO 8601. */
  at: z.string(),
})
export type MemoryEntry = z.infer<typeof memoryEntrySchema>

/**
 * One line of a receipt: a message of its own, or a run of messages that share a fate (`count` > 1). The counts of all
 * entries of a context add up to its eligible messages (docs/design.md#invariant-3 and #invariant-12).
 */
export const receiptEntrySchema = z.object({
  section: z.string(),
  mode: z.enum(entryModes),
  /** Messages that this line accounts for; 0 for a line that is no message, such as a system prompt or a summary. */
  count: z.int().min(0),
  /** Iterations that this line accounts for; those of all lines add up to the receipt's `iterations`. */
  iterations: z.int().min(0).optional(),
  /** Numbers of the first and the last iteration of the line. */
  fromIteration: z.int().optional(),
  toIteration: z.int().optional(),
  /** Sequence numbers of the first and the last message of the line. */
  fromSeq: z.int().optional(),
  toSeq: z.int().optional(),
  /** The thread that the messages are of, where the context shows several. */
  thread: z.string().optional(),
  messageId: idSchema.optional(),
  reference: z.string().optional(),
  role: z.string().optional(),
  tokens: z.int().min(0),
  /** What the messages would have cost verbatim. */
  tokensRaw: z.int().min(0).optional(),
  /** The item that this line is of: its version, how it came here, and its score. */
  item: includedItemSchema.optional(),
  memory: memoryEntrySchema.optional(),
  reason: z.string(),
})
export type ReceiptEntry = z.infer<typeof receiptEntrySchema>

export const receiptSchema = z.object({
  rendererVersion: z.int(),
  eligible: z.int(),
  imported: z.int(),
  /**
   * Messages that are not eligible, by reason: kept aside for good (`compact-summary`, `error`, `approval`), `outside-window`
   * (older than the rolling window), or `before-clear`. `eligible` and the last two add up to `imported`.
   */
  ineligible: z.record(z.string(), z.int()),
  /** Iterations since the last clear; only where the strategy shows iterations. */
  iterations: z.int().min(0).optional(),
  counter: z.enum(counters),
  /** How the budget was filled; missing in receipts of earlier versions. */
  fill: fillSchema.optional(),
  model: z.string().nullable(),
  agentVersion: z.int(),
  stateId: idSchema.nullable(),
  clearEpoch: z.int(),
  headSeq: z.int(),
  sections: z.array(z.object({ name: z.string(), tokens: z.int(), count: z.int() })),
  entries: z.array(receiptEntrySchema),
  /** What the request bounded the context to. */
  scope: scopeReceiptSchema.optional(),
  /** Deviations that the reader should know of: a fallback that served, a call without a result that was answered. */
  notes: z.array(z.string()),
  tokensRaw: z.int(),
  /**
   * Tokens with which the context begins like the previous one of its thread with the same settings: what a provider's cache
   * need not read again. Left out where the worker that built it remembers none.
   */
  sharedPrefixTokens: z.int().min(0).optional(),
  /** How items were selected by their meaning; only where there were some to select from. */
  selection: z
    .object({
      /** The model that judged; null where none did. */
      model: z.string().nullable(),
      /** Why nothing was selected. */
      skipped: z.string().nullable(),
    })
    .optional(),
  /** How memories were looked for; only where they were asked for. */
  memories: z
    .object({
      /** The model of the vectors that took part; null where words alone did. */
      model: z.string().nullable(),
      /** Why nothing was looked for. */
      skipped: z.string().nullable(),
      /** Why meaning took no part, or only in part. */
      degraded: z.string().nullable(),
    })
    .optional(),
  /** The model whose vectors this machine compares: `heddle-hashing-384-v1` finds words where others find meanings. */
  embedder: z.string().optional(),
})
export type Receipt = z.infer<typeof receiptSchema>

/** A piece of Anthropic's system prompt; the mark tells its cache to keep what was read up to there. */
const systemBlockSchema = z.object({
  type: z.literal('text'),
  text: z.string(),
  cache_control: z.object({ type: z.literal('ephemeral') }).optional(),
})

/** A built context as it is delivered. `messages` are in the request's format. */
export const contextResultSchema = z.object({
  id: idSchema,
  thread: z.string(),
  agent: z.string(),
  format: z.enum(formats),
  /** Not checked against the names that are known here: the context may have been built where others are. */
  strategy: z.string(),
  budget: z.int(),
  tokensUsed: z.int(),
  summaryUsed: z.boolean(),
  /** The system prompt where the format has it beside the messages: blocks for `anthropic`, a text for `ai-sdk`, else null. */
  system: z.union([z.string(), z.array(systemBlockSchema)]).nullable(),
  messages: z.array(z.record(z.string(), z.json())),
  /** The tools that the model may call, in the form that the format's provider takes. */
  tools: z.array(z.record(z.string(), z.json())).default([]),
  /** What was included: the thread's own items with the mode `always`, those added by hand, then those selected, best first. */
  items: z.array(requestItemSchema).default([]),
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
