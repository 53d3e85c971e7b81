import type { Message } from '../conversation/message.js'
import { overheadTokens, rawCost } from './costs.js'
import type { Lane } from './lane.js'
import { type CompactionState, isCovered } from './state.js'

/**
 * The longest summary of a lane: what was set, but never more than an eighth of a small limit. Plans count a summary as
 * this long, whatever its length turns out to be: so no plan depends on a summarizer, or has to wait for one.
 */
export function summaryTokensMax(lane: Lane): number {
  return Math.max(50, Math.min(lane.maxSummaryTokens, Math.floor(lane.limitTokens / 8)))
}

/** Tokens that a message takes in a context under a state: nothing, its replacement, or itself. */
export function costUnder(message: Message, state: CompactionState | null): number {
  if (isCovered(message, state)) return 0
  const pruning = state?.prunings.get(message.id)
  if (!pruning) return rawCost(message)
  return pruning.action === 'remove' ? 0 : pruning.tokens + message.reasoningTokens + overheadTokens(message)
}

/** What a state's summary is counted as, whatever its length. */
export function plannedSummaryTokens(state: CompactionState | null, lane: Lane): number {
  return state?.covered == null ? 0 : summaryTokensMax(lane)
}
