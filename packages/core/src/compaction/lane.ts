import type { Settings, ToolRule } from '@heddle/contracts'
import { modelMargin, modelWindowTokens } from '../tokens/models.js'
import type { TreeShape } from '../tree/leaves.js'
import type { CoverageRules } from './coverage.js'

/**
 * A lane is one way of compacting a thread: a strategy with the settings that its decisions depend on. States are kept by
 * lane, so that two callers with different budgets do not undo each other's. See `laneOf`.
 */
export interface Lane<Strategy extends CoverageRules = CoverageRules> {
  /** Names the lane in the store: the strategy and a hash of the rest. */
  readonly key: string
  readonly strategy: Strategy
  /** Tokens that a context of this lane may use. */
  readonly limitTokens: number
  readonly prune: Settings['prune']
  readonly maxSummaryTokens: number
  /** Share of the limit that pruning must leave no more than; else a compaction summarizes too. */
  readonly compactTo: number
  /** How a summary of a long range is made in parts. */
  readonly tree: TreeShape
  /** Tools that the user describes, which decide what a call is taken for. */
  readonly tools: readonly ToolRule[]
}

/**
 * The limit of a request: what the model takes less the room for its answer, or the budget where that is less. The window is
 * in the model's own tokens, so fewer of ours fit into it by the margin of its family; a budget is in those of our counter.
 */
export function limitTokens(settings: Pick<Settings, 'model' | 'maxOutputTokens' | 'budget'>): number {
  const ownWindow = modelWindowTokens(settings.model) - answerTokens(settings)
  const window = Math.floor(ownWindow / modelMargin(settings.model))
  return Math.max(1, Math.min(window, settings.budget ?? window))
}

/** The room that is left for the answer: never more than half of a window, so that a small one holds a request, too. */
export function answerTokens({ model, maxOutputTokens }: Pick<Settings, 'model' | 'maxOutputTokens'>): number {
  return Math.min(maxOutputTokens, Math.floor(modelWindowTokens(model) / 2))
}

/** What a lane takes from settings beside its strategy. */
export function laneParts(settings: Settings): Omit<Lane, 'key' | 'strategy'> {
  const { prune, maxSummaryTokens, compactTo, tools } = settings
  const { leafTokens, fanOut } = settings.tree
  return { limitTokens: limitTokens(settings), prune, maxSummaryTokens, compactTo, tree: { leafTokens, fanOut }, tools }
}

/** Compact (docs/pruning.md) when 20,000 tokens remain where the limit is over 200,000, else when a fifth of it remains. */
export function triggerTokens(limit: number): number {
  const remaining = limit > 200_000 ? 20_000 : Math.floor(limit * 0.2)
  return limit - remaining
}
