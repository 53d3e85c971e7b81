import { z } from 'zod'
import { blockEntrySchema } from '../blocks/blocks.js'
import { errorCodes } from '../errors.js'
import { includedItemSchema, requestItemSchema } from '../items/items.js'
import { limits } from '../primitives/limits.js'
import { idSchema, nameSchema, timeSchema } from '../primitives/names.js'
import { settingsSchema } from '../settings/settings.js'
import { fillSchema, formats, strategyNameSchema } from '../settings/strategies.js'
import { scopeReceiptSchema, scopeSchema } from './scope.js'
import { factEntrySchema, ledgerEntrySchema } from './section-entries.js'

export const counters = ['o200k', 'characters'] as const
export type CounterName = (typeof counters)[number]

/** An agent's request for a context. Missing fields are taken from the agent's settings. */
export const contextRequestSchema = z.strictObject({
  thread: nameSchema,
  /** Names the agent of a thread that may not exist yet; checked against the thread's agent if it exists. */
  agent: nameSchema.optional(),
  /** The user's new message, which is the last of the context; it is not stored. */
  message: z.string().min(1).max(limits.messageCharactersMax).optional(),
  model: z.string().min(1).max(200).optional(),
  /** Tokens; see docs/strategies.md#what-a-budget-means. */
  budget: z
    .int({ error: 'must be a whole number of tokens' })
    .min(1, 'Context limit must be positive')
    .max(limits.budgetTokensMax, `must be at most ${limits.budgetTokensMax}`)
    .optional(),
  strategy: strategyNameSchema.optional(),
  /**
   * Seconds of history that this context may show; null shows all ages. Overrides the settings of the agent and the
   * thread.
   */
  rollingWindow: settingsSchema.shape.rollingWindow.optional(),
  /**
   * How the budget is filled, overriding the agent's settings; the default depends on whether the thread is continued
   * at that budget.
   */
  fill: fillSchema.optional(),
  /** For the strategy `iterations`, overriding the agent's settings. */
  iterations: settingsSchema.shape.iterations.partial().optional(),
  format: z.enum(formats, { error: `must be one of ${formats.join(', ')}` }).optional(),
  counter: z.enum(counters, { error: `must be one of ${counters.join(', ')}` }).optional(),
  /**
   * Earlier messages related to the request, found by words and by meaning: in the agent's other threads, and in this
   * one outside the window. Overrides the agent's setting `search.memories`; `true` uses its limits.
   */
  memories: z
    .union([
      z.boolean(),
      settingsSchema.shape.search.shape.memories
        .pick({ tokensMax: true, limit: true, minScore: true, instructions: true })
        .partial(),
    ])
    .optional(),
  /**
   * The ledger of the thread's files, commands and addresses as of its last compaction. Overrides the agent's setting
   * `sections.ledger`; `true` uses its limit.
   */
  ledger: z
    .union([z.boolean(), settingsSchema.shape.sections.shape.ledger.pick({ tokensMax: true }).partial()])
    .optional(),
  /**
   * Recorded facts of the thread and its agent with their sources. Overrides the agent's setting `sections.facts`; `true` uses
   * its limits.
   */
  facts: z
    .union([z.boolean(), settingsSchema.shape.sections.shape.facts.pick({ tokensMax: true, limit: true }).partial()])
    .optional(),
  /**
   * Prepares the next context of the same request in the background whenever the thread changes, and answers with it if
   * nothing changed since. Only for requests without a `message`, since each message is new. Default from the settings.
   */
  prebuild: z.boolean().optional(),
  /**
   * How condensed contents are referenced: `short`, which resolves in their thread, or `full`, which resolves from anywhere.
   * Default `short`; contexts built over MCP have full references.
   */
  references: z.enum(['short', 'full'], { error: 'must be short or full' }).optional(),
  /**
   * `false`: a preview. It is built like every context, but neither stored nor reported, and its id names nothing. Default
   * `true`.
   */
  store: z.boolean().optional(),
  /** Restricts the contents; see {@link scopeSchema}. Default: the whole thread. */
  scope: scopeSchema.optional(),
  /** Returns the latest context that was built for the same request up to this past time, without building it again. */
  at: timeSchema.optional(),
})
export type ContextRequest = z.infer<typeof contextRequestSchema>

/** How a message appears in a context. */
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

/** The earlier message that a line of a receipt recalls, or would have recalled. */
export const memoryEntrySchema = z.object({
  messageId: idSchema,
  /** The name of its thread. */
  thread: z.string(),
  /** The reference for recalling the whole message. */
  reference: z.string(),
  /** Higher is better; scores of two contexts are not comparable. */
  score: z.number(),
  /** The message's time, ISO 8601. */
  at: z.string(),
})
export type MemoryEntry = z.infer<typeof memoryEntrySchema>

/**
 * One line of a receipt: a single message, or a run of messages with the same outcome (`count` > 1). The counts of all
 * entries of a context add up to its eligible messages (docs/design.md#invariant-3 and #invariant-12).
 */
export const receiptEntrySchema = z.object({
  section: z.string(),
  mode: z.enum(entryModes),
  /** Messages that this line accounts for; 0 for other parts, such as a system prompt or a summary. */
  count: z.int().min(0),
  /** Iterations that this line accounts for; the sum over all lines is the receipt's `iterations`. */
  iterations: z.int().min(0).optional(),
  /** Numbers of the first and the last iteration of the line. */
  fromIteration: z.int().optional(),
  toIteration: z.int().optional(),
  /** Sequence numbers of the first and the last message of the line. */
  fromSeq: z.int().optional(),
  toSeq: z.int().optional(),
  /** The thread of the messages, in a context of several threads. */
  thread: z.string().optional(),
  messageId: idSchema.optional(),
  reference: z.string().optional(),
  role: z.string().optional(),
  tokens: z.int().min(0),
  /** Tokens of the messages verbatim. */
  tokensRaw: z.int().min(0).optional(),
  /** The item of this line: its version, its include mode, and its score. */
  item: includedItemSchema.optional(),
  memory: memoryEntrySchema.optional(),
  /** The memory block of this line, in the version that is shown. */
  block: blockEntrySchema.optional(),
  /** The line of the ledger that this line is about; its tokens are those of the section. */
  ledger: ledgerEntrySchema.optional(),
  /** The fact that this line is about; its tokens are those of the section. */
  fact: factEntrySchema.optional(),
  reason: z.string(),
})
export type ReceiptEntry = z.infer<typeof receiptEntrySchema>

export const receiptSchema = z.object({
  rendererVersion: z.int(),
  eligible: z.int(),
  imported: z.int(),
  /**
   * Ineligible messages by reason: permanently kept aside (`compact-summary`, `error`, `approval`), `outside-window`
   * (older than the rolling window), or `before-clear`. `eligible` plus the last two is `imported`.
   */
  ineligible: z.record(z.string(), z.int()),
  /** Iterations since the last clear; only if the strategy shows iterations. */
  iterations: z.int().min(0).optional(),
  counter: z.enum(counters),
  /** How the budget was filled; absent in receipts of earlier versions. */
  fill: fillSchema.optional(),
  model: z.string().nullable(),
  agentVersion: z.int(),
  stateId: idSchema.nullable(),
  /**
   * The model or method that wrote the summary; absent without a summary, and in receipts of earlier versions.
   */
  summarizer: z.string().optional(),
  clearEpoch: z.int(),
  headSeq: z.int(),
  sections: z.array(z.object({ name: z.string(), tokens: z.int(), count: z.int() })),
  entries: z.array(receiptEntrySchema),
  /** The scope of the request. */
  scope: scopeReceiptSchema.optional(),
  /** Notes for the reader about deviations: a fallback was used, a missing result was replaced. */
  notes: z.array(z.string()),
  tokensRaw: z.int(),
  /**
   * Tokens of the prefix shared with the previous context of the thread under the same settings, which a provider can
   * read from its cache. Absent if the worker that built it has no previous context in memory.
   */
  sharedPrefixTokens: z.int().min(0).optional(),
  /** How items were selected by meaning; only if there were items to select from. */
  selection: z
    .object({
      /** The embedding model that scored; null without a selection. */
      model: z.string().nullable(),
      /** Why no items were selected. */
      skipped: z.string().nullable(),
    })
    .optional(),
  /** How memories were searched; only if they were requested. */
  memories: z
    .object({
      /** The model of the vectors used; null for a search by words only. */
      model: z.string().nullable(),
      /** Why no search was made. */
      skipped: z.string().nullable(),
      /** Why vectors were used only in part, or not at all. */
      degraded: z.string().nullable(),
    })
    .optional(),
  /** The provider's expected count, from its reports on earlier replies; only once enough of them are known. */
  calibration: z
    .object({
      /** Tokens of the provider for one of ours. */
      ratio: z.number(),
      /** Tokens that the provider counts besides the context. */
      offset: z.number(),
      /** The share by which the expectation may be too low. */
      margin: z.number(),
      expectedTokens: z.int(),
      atMostTokens: z.int(),
      /** Whether it lowered the limit of this context. */
      isLimiting: z.boolean(),
    })
    .optional(),
  /** The model whose vectors this machine compares: `heddle-hashing-384-v1` compares words rather than meanings. */
  embedder: z.string().optional(),
})
export type Receipt = z.infer<typeof receiptSchema>

/** A piece of Anthropic's system prompt; the mark makes its cache store the prefix up to there. */
const systemBlockSchema = z.object({
  type: z.literal('text'),
  text: z.string(),
  cache_control: z.object({ type: z.literal('ephemeral') }).optional(),
})

/** The settings of agent and thread for the call of the model that the context is sent with (docs/formats.md). */
export const callSettingsSchema = settingsSchema
  .pick({ model: true, temperature: true, topP: true, maxChatTurns: true, toolPermission: true })
  .extend({
    /** Tokens that the context leaves for the answer: the setting, at most half of the model's window. */
    maxOutputTokens: z.int(),
  })
export type CallSettings = z.infer<typeof callSettingsSchema>

/** The progress of a thread's current turn. */
export const turnsSchema = z.object({
  /** Replies of the model since the user's latest message; for the strategy `iterations`, its iterations. */
  taken: z.int().min(0),
  /** The setting `maxChatTurns`; null means no limit. */
  max: z.int().nullable(),
})
export type Turns = z.infer<typeof turnsSchema>

/** A built context as it is delivered. `messages` are in the request's format. */
export const contextResultSchema = z.object({
  id: idSchema,
  thread: z.string(),
  agent: z.string(),
  format: z.enum(formats),
  /** Not checked against the strategies of this process: the context may have been built in another one. */
  strategy: z.string(),
  budget: z.int(),
  tokensUsed: z.int(),
  summaryUsed: z.boolean(),
  /** The system prompt if the format sends it separately: blocks for `anthropic`, a text for `ai-sdk`, else null. */
  system: z.union([z.string(), z.array(systemBlockSchema)]).nullable(),
  messages: z.array(z.record(z.string(), z.json())),
  /** The tools that the model may call, in the form of the format's provider. */
  tools: z.array(z.record(z.string(), z.json())).default([]),
  /** Included items: the thread's own with the mode `always`, those added by hand, then those selected, best first. */
  items: z.array(requestItemSchema).default([]),
  /** Absent in contexts of earlier versions. */
  settings: callSettingsSchema.optional(),
  /** Absent in contexts of earlier versions. */
  turns: turnsSchema.optional(),
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
