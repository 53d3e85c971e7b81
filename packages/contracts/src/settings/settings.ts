import { z } from 'zod'
import { selectionPresets, selectionSettingsShape, selectionShape } from '../items/items.js'
import { limits } from '../primitives/limits.js'
import { proxyModeSchema } from '../proxy/modes.js'
import { defaultLossGate, lossGateModeSchema } from './loss-gate.js'
import { fillSchema, formats, strategyNameSchema } from './strategies.js'
import { toolRuleSchema, toolRulesMax } from './tools.js'

/** Summarizers: `extractive` needs no model, the others are providers of models. */
export const summarizationProviders = [
  'extractive',
  'cerebras',
  'xai',
  'groq',
  'gemini',
  'openai',
  'anthropic',
  'mistral',
  'deepseek',
  'openrouter',
  'ollama',
] as const
export type SummarizationProvider = (typeof summarizationProviders)[number]

/** Which tool calls need an approval. */
export const toolPermissions = ['always', 'never', 'tool'] as const

const count = (least: number, most: number) => z.int().min(least).max(most)

/** How facts are read from new messages in the background (docs/memory.md#facts). */
export const rememberModes = ['off', 'rules', 'model'] as const

export const sectionOrders = ['cache-stable', 'status-first'] as const

/**
 * Settings of an agent, all optional: missing ones are taken from `heddle.yaml`, the environment, or {@link
 * defaultSettings}.
 */
export const settingsSchema = z.strictObject({
  /** Seconds of history that a context may show; null shows all. Default 86,400 (docs/windows.md). */
  rollingWindow: count(1, 3_153_600_000).nullable(),
  /** The model that answers: determines the window and the token margin. */
  model: z.string().min(1).max(200).nullable(),
  /** Tokens of the window of a model that no table has (docs/formats.md#models-that-no-table-has). */
  unknownModelWindow: count(1_000, limits.budgetTokensMax),
  /** How the window of the model is compared with our counts (docs/formats.md#calibration). Learnt where null. */
  calibration: z.strictObject({
    /** Whether what providers reported with replies corrects the window. */
    enabled: z.boolean(),
    /** Tokens that the provider counts for one of ours, beyond the margin of its model. */
    ratio: z.number().min(1).max(4).nullable(),
    /** Tokens that the provider counts besides the context, such as tools that the caller adds. */
    offset: count(0, limits.budgetTokensMax).nullable(),
    /** The share by which a prediction may be too low. */
    margin: z.number().min(0).max(1).nullable(),
  }),
  /** Tokens that a context may use; null uses the model's window minus the output reserve. */
  budget: count(1, limits.budgetTokensMax).nullable(),
  strategy: strategyNameSchema,
  /** How contexts fill their budget; null decides by whether the thread is continued at that budget. */
  fill: fillSchema.nullable(),
  /** The format of requests that name no format. Background compactions count in this format; null is `neutral`. */
  format: z.enum(formats, { error: `must be one of ${formats.join(', ')}` }).nullable(),
  /** Tokens reserved for the model's answer. */
  maxOutputTokens: count(1, 1_000_000),
  /** Returned with each context for the call of the model; null leaves it to the provider (docs/formats.md). */
  temperature: z.number().min(0).max(2).nullable(),
  /** Returned with each context for the call of the model; null leaves it to the provider (docs/formats.md). */
  topP: z.number().min(0).max(1).nullable(),
  /** Replies of the model to one message of the user; null means no limit (docs/formats.md). */
  maxChatTurns: count(1, 10_000).nullable(),
  /**
   * Which tool calls need the approval of the user: `always` all, `never` none, `tool` those whose tool requires it. Returned
   * with each context; the caller applies it.
   */
  toolPermission: z.enum(toolPermissions, { error: `must be one of ${toolPermissions.join(', ')}` }),
  /** Disables background compaction (docs/pruning.md). */
  disableAutoSummarize: z.boolean(),
  /**
   * How facts are read from the words of people in new messages: by `rules`, or by the `model` of summaries, where there is one; `off`
   * reads them on request alone (docs/memory.md#facts).
   */
  remember: z.enum(rememberModes, { error: `must be one of ${rememberModes.join(', ')}` }),
  /** Whether the next contexts are prepared in the background, for requests without `prebuild`. */
  prebuild: z.boolean(),
  /**
   * The mode of the proxy for requests of the agent; null leaves it to `proxy.mode` (docs/proxy.md#modes). That of a thread
   * holds for requests that name the thread.
   */
  proxyMode: proxyModeSchema.nullable(),
  summarizationProvider: z.enum(summarizationProviders).nullable(),
  summarizationModel: z.string().min(1).max(200).nullable(),
  /** Longest summary in tokens (docs/iterations.md). */
  maxSummaryTokens: count(50, 100_000),
  lossGate: z.strictObject({
    /** The effect of a summary that lost a demand of a person (docs/summaries.md#the-gate). */
    constraint: lossGateModeSchema,
    /** The same for a correction. */
    correction: lossGateModeSchema,
    /** The same for a decision. */
    decision: lossGateModeSchema,
    /** The same for a file that was read or changed. */
    path: lossGateModeSchema,
    /** The same for a command with effects. */
    command: lossGateModeSchema,
    /** The same for a failure of a command or a tool. */
    error: lossGateModeSchema,
    /** The same for an open step of the last plan. */
    todo: lossGateModeSchema,
    /** The same for an address. */
    url: lossGateModeSchema,
    /** The same for a number with a unit. */
    number: lossGateModeSchema,
    /** The same for a name in code. */
    identifier: lossGateModeSchema,
    /** The same for a name that a person wrote. */
    name: lossGateModeSchema,
  }),
  /**
   * How deep a compaction goes, as a share of the limit: if more than this remains after pruning, it also summarizes.
   * Lower values mean fewer compactions and smaller contexts, higher ones keep more messages verbatim
   * (`docs/caching.md`).
   */
  compactTo: z.number().gt(0).max(1),
  prune: z.strictObject({
    /** The newest messages, which stay unchanged (docs/pruning.md). */
    keepLastN: count(0, 100_000),
    /** The age past which long assistant messages are condensed. */
    condenseAfterN: count(0, 100_000),
    /** The age past which failed results are removed. */
    removeErrorsAfter: count(0, 100_000),
    /** The length in tokens past which an assistant message counts as long. */
    condenseTokensMin: count(1, 1_000_000),
  }),
  sandwich: z.strictObject({
    preserveTop: count(0, 10_000),
    preserveBottom: count(0, 10_000),
    /** Share of the limit past which the middle is summarized (docs/strategies.md). */
    compressionThreshold: z.number().gt(0).max(1),
  }),
  slidingWindow: z.strictObject({
    /** The newest messages that the strategy keeps (docs/strategies.md). */
    keepLastN: count(1, 100_000),
  }),
  sections: z.strictObject({
    /** The order of a context's parts: `cache-stable` puts volatile parts last, `status-first` the status first. */
    order: z.enum(sectionOrders, { error: `must be one of ${sectionOrders.join(', ')}` }),
    /** Maximum tokens of a section; a longer one is cut at its end. The history is fitted into its allocation. */
    allocations: z.strictObject({
      'system-prompt': count(1, limits.budgetTokensMax).optional(),
      docs: count(1, limits.budgetTokensMax).optional(),
      rules: count(1, limits.budgetTokensMax).optional(),
      references: count(1, limits.budgetTokensMax).optional(),
      /** For memory blocks, and as much again for their changes; whole blocks only. Default a quarter of the limit. */
      blocks: count(1, limits.budgetTokensMax).optional(),
      /** For items selected by meaning; whole items only. Default a quarter of the limit. */
      selected: count(1, limits.budgetTokensMax).optional(),
      status: count(1, limits.budgetTokensMax).optional(),
      history: count(1, limits.budgetTokensMax).optional(),
    }),
    /** The ledger of the files, commands and addresses of a thread, from its calls (docs/sections.md#the-ledger). */
    ledger: z.strictObject({
      /** Whether contexts have the ledger by default. */
      enabled: z.boolean(),
      /** Maximum tokens of the ledger; never more than a quarter of the context's limit. */
      tokensMax: count(1, limits.budgetTokensMax),
    }),
    /** Recorded facts of the thread and its agent (docs/sections.md#facts). */
    facts: z.strictObject({
      /** Whether contexts have facts by default. */
      enabled: z.boolean(),
      /** Maximum tokens of the facts, and as much again for their changes; never more than a quarter of the context's limit. */
      tokensMax: count(1, limits.budgetTokensMax),
      /** Maximum number of facts in a context. */
      limit: count(1, limits.factsShownMax),
    }),
  }),
  iterations: z.strictObject({
    /** `adaptive`: as many iterations as fit whole; `fixed`: `rawWindowSize` (docs/iterations.md). */
    window: z.enum(['fixed', 'adaptive'], { error: 'must be fixed or adaptive' }),
    /** The newest iterations that stay out of the progress summary (docs/iterations.md). */
    rawWindowSize: count(1, 200),
    /** The summary is regenerated from the iterations after this many new ones (docs/iterations.md). */
    summarizeEvery: count(1, 10_000),
    /** The newest iterations of the window whose outputs a prompt shows (docs/iterations.md). */
    shownIterations: count(1, 200),
    /** Characters of an output that a prompt shows (docs/iterations.md). */
    shownCharacters: count(1, 5_000),
  }),
  tree: z.strictObject({
    preserveTop: count(0, 10_000),
    preserveBottom: count(0, 10_000),
    /** Share of the limit past which the messages between them are summarized. */
    compressionThreshold: z.number().gt(0).max(1),
    /**
     * Approximate tokens of raw messages per leaf summary; also for other strategies, if they cover more than one
     * summary can be made of.
     */
    leafTokens: count(500, 100_000),
    /**
     * Maximum number of summaries that one summary of the next level is made of; each has at most `leafTokens / fanOut`
     * tokens.
     */
    fanOut: count(2, 32),
  }),
  snapshots: z.strictObject({
    /** `files`: a file beside the row, in the data folder of the worker that saves it; `postgres`: only the row. */
    store: z.enum(['files', 'postgres'], { error: 'must be files or postgres' }),
  }),
  /** Custom tools for pruning; they precede Heddle's own rows. */
  tools: z.array(toolRuleSchema).max(toolRulesMax, `must have at most ${toolRulesMax} entries`),
  search: z.strictObject({
    /** Which items are selected by meaning (docs/items.md); a preset sets the other fields, which override it. */
    ...selectionShape,
    ...selectionSettingsShape,
    /** Weights of the parts of word search beside a message's own words; 0 disables a part. */
    words: z.strictObject({
      /** Shares of the scores of messages one position away, two positions away, and so on. */
      neighbours: z.array(z.number().min(0).max(1)).max(5),
      /** A share of the score of the whole thread. */
      thread: z.number().min(0).max(10),
      /** Added if the query names the speaker; a rare word scores 5 to 10. */
      speaker: z.number().min(0).max(100),
      /** Factor for replies of the model, compared to what people said and tools showed. */
      replies: z.number().min(0).max(10),
      /** Factor for paths, identifiers, versions and numbers, compared to words. */
      names: z.number().min(0).max(10),
      /** Added share of the score for a text that names a time, if the query asks for one. */
      times: z.number().min(0).max(10),
    }),
    /** Weights of vector similarity, relative to a score of 1 for the message that words rank first. */
    vectors: z.strictObject({
      /** Independent of the query; null uses the embedder's default. */
      always: z.number().min(0).max(10).nullable(),
      /** Added in proportion to the query's unknown words, from half of them on; null uses the embedder's default. */
      unknownWords: z.number().min(0).max(10).nullable(),
      /** Timeout for vectors in milliseconds; after it a search uses words only, and says so. */
      timeoutMs: count(1, 60_000),
    }),
    /** Earlier messages that a context recalls: from other threads, and from its own outside the window. */
    memories: z.strictObject({
      /** Whether contexts recall memories by default. */
      enabled: z.boolean(),
      /** Maximum tokens of all memories together; never more than a quarter of the context's limit. */
      tokensMax: count(1, limits.budgetTokensMax),
      /** Maximum number of memories in a context. */
      limit: count(1, limits.memoriesMax),
      /** Memories with a lower score are unrelated to the request: 1 has everything that it asks for, 0 nothing. */
      minScore: z.number().min(0).max(1),
      /** Whether they include lasting instructions of people, related to the request or not: half of the limit at most. */
      instructions: z.boolean(),
      /** Timeout for their search in milliseconds; after it the context is built without them, and says so. */
      timeoutMs: count(1, 60_000),
    }),
  }),
})
export type Settings = z.infer<typeof settingsSchema>

/** The defaults (docs/configuration.md#settings-of-agents). */
export const defaultSettings: Settings = {
  rollingWindow: 86_400,
  model: null,
  // That of the most widely used models.
  unknownModelWindow: 200_000,
  calibration: { enabled: true, ratio: null, offset: null, margin: null },
  budget: null,
  strategy: 'sandwich',
  fill: null,
  format: null,
  maxOutputTokens: 4_096,
  temperature: null,
  topP: null,
  maxChatTurns: null,
  toolPermission: 'tool',
  disableAutoSummarize: false,
  remember: 'off',
  prebuild: false,
  proxyMode: null,
  summarizationProvider: null,
  summarizationModel: null,
  maxSummaryTokens: 2_000,
  lossGate: defaultLossGate,
  compactTo: 0.2,
  prune: { keepLastN: 10, condenseAfterN: 5, removeErrorsAfter: 5, condenseTokensMin: 500 },
  sandwich: { preserveTop: 5, preserveBottom: 5, compressionThreshold: 0.7 },
  slidingWindow: { keepLastN: 20 },
  sections: {
    order: 'cache-stable',
    allocations: {},
    ledger: { enabled: false, tokensMax: 1_000 },
    facts: { enabled: false, tokensMax: 1_000, limit: 40 },
  },
  iterations: { window: 'fixed', rawWindowSize: 5, summarizeEvery: 10, shownIterations: 3, shownCharacters: 1_000 },
  tree: { preserveTop: 5, preserveBottom: 5, compressionThreshold: 0.7, leafTokens: 8_000, fanOut: 8 },
  snapshots: { store: 'files' },
  tools: [],
  search: {
    preset: 'normal',
    ...selectionPresets.normal,
    enabled: true,
    wordShare: 0.5,
    fitBudget: false,
    types: {},
    // Found on long conversations between two people, in which each part helps alone and in combination.
    words: { neighbours: [0.55, 0.2], thread: 0.35, speaker: 2, replies: 0.5, names: 1.6, times: 0.2 },
    vectors: { always: null, unknownWords: null, timeoutMs: 5_000 },
    memories: { enabled: false, tokensMax: 2_000, limit: 8, minScore: 0.25, instructions: false, timeoutMs: 3_000 },
  },
}

/** Settings as a user writes them: any subset. */
export const partialSettingsSchema = settingsSchema
  .extend({
    calibration: settingsSchema.shape.calibration.partial(),
    lossGate: settingsSchema.shape.lossGate.partial(),
    prune: settingsSchema.shape.prune.partial(),
    sandwich: settingsSchema.shape.sandwich.partial(),
    slidingWindow: settingsSchema.shape.slidingWindow.partial(),
    sections: settingsSchema.shape.sections
      .extend({
        ledger: settingsSchema.shape.sections.shape.ledger.partial(),
        facts: settingsSchema.shape.sections.shape.facts.partial(),
      })
      .partial(),
    iterations: settingsSchema.shape.iterations.partial(),
    tree: settingsSchema.shape.tree.partial(),
    snapshots: settingsSchema.shape.snapshots.partial(),
    search: settingsSchema.shape.search
      .extend({
        words: settingsSchema.shape.search.shape.words.partial(),
        memories: settingsSchema.shape.search.shape.memories.partial(),
      })
      .partial(),
  })
  .partial()
export type PartialSettings = z.infer<typeof partialSettingsSchema>
