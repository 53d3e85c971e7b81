import type { Settings, ToolRule } from '@heddle/contracts'
import { modelMargin, modelWindowTokens } from '../tokens/models.js'
import type { TreeShape } from '../tree/leaves.js'
import type { CoverageRules } from './coverage.js'

/**
 * A lane is one way of compacting a thread: a strategy with the settings that its decisions depend on. States are
 * stored by lane, so that two callers with different budgets do not overwrite each other's. See `laneOf`.
 */
export interface Lane<Strategy extends CoverageRules = CoverageRules> {
  /** Names the lane in the store: the strategy and a hash of the rest. */
  readonly key: string
  readonly strategy: Strategy
  /** Tokens that a context of this lane may use. */
  readonly limitTokens: number
  readonly prune: Settings['prune']
  readonly maxSummaryTokens: number
  /** Target share of the limit after pruning; if more remains, a compaction also summarizes. */
  readonly compactTo: number
  /** Shape of the tree of partial summaries for a long range. */
  readonly tree: TreeShape
  /** User-defined tools, which decide how a call is classified. */
  readonly tools: readonly ToolRule[]
}

type WindowSettings = Pick<Settings, 'model' | 'unknownModelWindow' | 'maxOutputTokens'>

/**
 * The limit of a request: the model's window minus the tokens reserved for its answer, or the budget if that is lower.
 * The window is in the model's own tokens, so it is divided by the margin of its family; a budget is in tokens of our
 * counter.
 */
export function limitTokens(settings: WindowSettings & Pick<Settings, 'budget'>): number {
  const ownWindow = modelWindowTokens(settings.model, settings.unknownModelWindow) - answerTokens(settings)
  const window = Math.floor(ownWindow / modelMargin(settings.model))
  return Math.max(1, Math.min(window, settings.budget ?? window))
}

/** Tokens reserved for the answer: at most half of a window, so that a small window still holds a request. */
export function answerTokens({ model, unknownModelWindow, maxOutputTokens }: WindowSettings): number {
  return Math.min(maxOutputTokens, Math.floor(modelWindowTokens(model, unknownModelWindow) / 2))
}

export function laneParts(settings: Settings): Omit<Lane, 'key' | 'strategy'> {
  const { prune, maxSummaryTokens, compactTo, tools } = settings
  const { leafTokens, fanOut } = settings.tree
  return { limitTokens: limitTokens(settings), prune, maxSummaryTokens, compactTo, tree: { leafTokens, fanOut }, tools }
}

/**
 * The tokens at which a full context is compacted (docs/pruning.md#when-a-thread-is-compacted): 20,000 tokens remain of a
 * limit over 200,000, otherwise a fifth.
 */
export function triggerTokens(limit: number): number {
  const remaining = limit > 200_000 ? 20_000 : Math.floor(limit * 0.2)
  return limit - remaining
}

/** The fewest tokens at which a compaction of the lane may be due: past the strategy's threshold, or at the trigger. */
export function dueTokens({ limitTokens, strategy }: Pick<Lane, 'limitTokens' | 'strategy'>): number {
  return Math.min(Math.floor(limitTokens * strategy.compressionThreshold) + 1, triggerTokens(limitTokens))
}

/**
 * Whether a context of so many tokens is compacted: at the trigger any is, and past the strategy's threshold one with more
 * messages than the first and the newest, which stay.
 */
export function isCompactionDue(
  { limitTokens, strategy }: Pick<Lane, 'limitTokens' | 'strategy'>,
  { usage, messages, isCovered }: { usage: number; messages: number; isCovered: boolean },
): boolean {
  if (usage >= triggerTokens(limitTokens)) return true
  if (usage <= limitTokens * strategy.compressionThreshold) return false
  // Under a summary there are always more, but those that it covers may not be loaded.
  return isCovered || messages > strategy.preserveTop + strategy.preserveBottom
}
