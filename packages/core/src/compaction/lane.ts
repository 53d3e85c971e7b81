import { createHash } from 'node:crypto'
import type { Settings, StrategyName, ToolRule } from '@heddle/contracts'
import { modelWindowTokens } from '../models.js'

/**
 * A lane is one way of compacting a thread: a strategy with the settings that its decisions depend on. States are kept by
 * lane, so that two callers with different budgets do not undo each other's.
 */
export interface Lane {
  /** Names the lane in the store: the strategy and a hash of the rest. */
  readonly key: string
  readonly strategy: StrategyName
  /** Tokens that a context of this lane may use. */
  readonly limitTokens: number
  readonly prune: Settings['prune']
  readonly sandwich: Settings['sandwich']
  readonly maxSummaryTokens: number
  /** Tools that the user describes, which decide what a call is taken for. */
  readonly tools: readonly ToolRule[]
}

/** The limit of a request: what the model takes less the room for its answer, or the budget where that is less. */
export function limitTokens(settings: Pick<Settings, 'model' | 'maxOutputTokens' | 'budget'>): number {
  const window = modelWindowTokens(settings.model) - settings.maxOutputTokens
  return Math.max(1, Math.min(window, settings.budget ?? window))
}

export function laneOf(settings: Settings): Lane {
  const lane = {
    strategy: settings.strategy,
    limitTokens: limitTokens(settings),
    prune: settings.prune,
    sandwich: settings.sandwich,
    maxSummaryTokens: settings.maxSummaryTokens,
  }
  const { tools } = settings
  // Without tools of one's own the key is what it was before there could be any.
  const hashed = JSON.stringify(tools.length === 0 ? lane : { ...lane, tools })
  const hash = createHash('sha256').update(hashed).digest('hex').slice(0, 12)
  return { key: `${settings.strategy}-${hash}`, ...lane, tools }
}

/** Spec 001: compact when 20,000 tokens remain where the limit is over 200,000, else when a fifth of it remains. */
export function triggerTokens(limit: number): number {
  const remaining = limit > 200_000 ? 20_000 : Math.floor(limit * 0.2)
  return limit - remaining
}
