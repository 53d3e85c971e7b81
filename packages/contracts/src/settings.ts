import { z } from 'zod'
import { limits } from './limits.js'
import { toolRuleSchema, toolRulesMax } from './tools.js'

export const strategies = ['sandwich', 'sliding-window', 'full-history'] as const
export type StrategyName = (typeof strategies)[number]

const count = (least: number, most: number) => z.int().min(least).max(most)

/** Settings of an agent, all optional: what is not set comes from `heddle.yaml`, the environment, or {@link defaultSettings}. */
export const settingsSchema = z.strictObject({
  /** Seconds of history that a context may show; null shows all. Default 86,400 (spec 000). */
  rollingWindow: count(1, 3_153_600_000).nullable(),
  /** The model that answers: gives the window and the token margin. */
  model: z.string().min(1).max(200).nullable(),
  /** Tokens that a context may use; null takes the model's window less the output reserve. */
  budget: count(1, limits.budgetTokensMax).nullable(),
  strategy: z.enum(strategies),
  /** Tokens kept free for the model's answer. */
  maxOutputTokens: count(1, 1_000_000),
  /** No compaction in the background (spec 001). */
  disableAutoSummarize: z.boolean(),
  summarizationProvider: z.string().min(1).max(100).nullable(),
  summarizationModel: z.string().min(1).max(200).nullable(),
  /** Longest summary in tokens (spec 002). */
  maxSummaryTokens: count(50, 100_000),
  prune: z.strictObject({
    /** The newest messages that stay as they are (spec 001). */
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
    /** Share of the limit past which the middle is summarized (spec 003). */
    compressionThreshold: z.number().gt(0).max(1),
  }),
  slidingWindow: z.strictObject({
    /** The newest messages that the strategy keeps (spec 003). */
    keepLastN: count(1, 100_000),
  }),
  /** Tools of one's own, as pruning is to know them; they go before the rows that Heddle brings. */
  tools: z.array(toolRuleSchema).max(toolRulesMax, `must have at most ${toolRulesMax} entries`),
  search: z.strictObject({
    topK: count(1, 1_000),
    topN: count(0, 1_000),
    includeScore: z.number().min(0).max(1),
  }),
})
export type Settings = z.infer<typeof settingsSchema>

/** The defaults of the five texts of `spec/`. */
export const defaultSettings: Settings = {
  rollingWindow: 86_400,
  model: null,
  budget: null,
  strategy: 'sandwich',
  maxOutputTokens: 4_096,
  disableAutoSummarize: false,
  summarizationProvider: null,
  summarizationModel: null,
  maxSummaryTokens: 2_000,
  prune: { keepLastN: 10, condenseAfterN: 5, removeErrorsAfter: 5, condenseTokensMin: 500 },
  sandwich: { preserveTop: 5, preserveBottom: 5, compressionThreshold: 0.7 },
  slidingWindow: { keepLastN: 20 },
  tools: [],
  search: { topK: 20, topN: 5, includeScore: 0.7 },
}

/** Settings as a user writes them: any part of them. */
export const partialSettingsSchema = settingsSchema
  .extend({
    prune: settingsSchema.shape.prune.partial(),
    sandwich: settingsSchema.shape.sandwich.partial(),
    slidingWindow: settingsSchema.shape.slidingWindow.partial(),
    search: settingsSchema.shape.search.partial(),
  })
  .partial()
export type PartialSettings = z.infer<typeof partialSettingsSchema>

/** Lays settings over one another, the later ones on top: defaults < file < environment < agent < request. */
export function mergeSettings(...layers: readonly PartialSettings[]): Settings {
  let merged: Settings = defaultSettings
  for (const layer of layers) {
    const { prune, sandwich, slidingWindow, tools, search, ...plain } = layer
    merged = {
      ...merged,
      ...withoutUndefined(plain),
      prune: { ...merged.prune, ...withoutUndefined(prune ?? {}) },
      sandwich: { ...merged.sandwich, ...withoutUndefined(sandwich ?? {}) },
      slidingWindow: { ...merged.slidingWindow, ...withoutUndefined(slidingWindow ?? {}) },
      // Rows of a later layer go first, and the first row that fits a call decides.
      tools: tools === undefined ? merged.tools : [...tools, ...merged.tools],
      search: { ...merged.search, ...withoutUndefined(search ?? {}) },
    }
  }
  return merged
}

type Defined<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

function withoutUndefined<T extends object>(value: T): Partial<Defined<T>> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Partial<Defined<T>>
}
