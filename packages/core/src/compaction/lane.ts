import type { Settings, ToolRule } from '@heddle/contracts'
import { type Calibration, calibratedWindow, calibrationIn } from '../calibration/in-force.js'
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
  /** Converts a provider's count into ours; absent unless the limit follows from it. */
  readonly calibration?: Calibration
  /** User-defined tools, which decide how a call is classified. */
  readonly tools: readonly ToolRule[]
}

type WindowSettings = Pick<Settings, 'model' | 'unknownModelWindow' | 'maxOutputTokens' | 'calibration'>
type LimitSettings = WindowSettings & Pick<Settings, 'budget'>

/**
 * The limit of a request: the model's window minus the tokens reserved for its answer, or the budget if that is lower.
 * The window is in the model's own tokens, so it is divided by the margin of its family, and a calibration may lower it further;
 * a budget is in tokens of our counter.
 */
export function limitTokens(settings: LimitSettings): number {
  const window = windowByMargin(settings)
  const calibration = calibrationIn(settings)
  const calibrated = calibration === null ? window : calibratedWindow(calibration, ownWindowTokens(settings), window)
  return Math.max(1, Math.min(calibrated, settings.budget ?? calibrated))
}

/** The calibration that lowers the limit of a request; null if it is the same without. */
export function limitingCalibration(settings: LimitSettings): Calibration | null {
  const calibration = calibrationIn(settings)
  if (calibration === null) return null
  const isLower =
    limitTokens(settings) < Math.min(windowByMargin(settings), settings.budget ?? Number.POSITIVE_INFINITY)
  return isLower ? calibration : null
}

/** The window without a calibration, in tokens of our counter. */
export function windowByMargin(settings: WindowSettings): number {
  return Math.max(1, Math.floor(ownWindowTokens(settings) / modelMargin(settings.model)))
}

function ownWindowTokens(settings: WindowSettings): number {
  return modelWindowTokens(settings.model, settings.unknownModelWindow) - answerTokens(settings)
}

/** Tokens reserved for the answer: at most half of a window, so that a small window still holds a request. */
export function answerTokens({
  model,
  unknownModelWindow,
  maxOutputTokens,
}: Omit<WindowSettings, 'calibration'>): number {
  return Math.min(maxOutputTokens, Math.floor(modelWindowTokens(model, unknownModelWindow) / 2))
}

export function laneParts(settings: Settings): Omit<Lane, 'key' | 'strategy'> {
  const { prune, maxSummaryTokens, compactTo, tools } = settings
  const { leafTokens, fanOut } = settings.tree
  const calibration = limitingCalibration(settings)
  return {
    limitTokens: limitTokens(settings),
    prune,
    maxSummaryTokens,
    compactTo,
    tree: { leafTokens, fanOut },
    ...(calibration !== null && { calibration }),
    tools,
  }
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
