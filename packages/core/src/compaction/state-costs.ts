import type { Message } from '../conversation/message.js'
import { overheadTokens, rawCost } from './costs.js'
import type { Lane } from './lane.js'
import { type CompactionState, isCovered } from './state.js'

/**
 * Maximum length of a lane's summary: the setting, but at most an eighth of a small limit. Plans assume this length for
 * every summary, so that no plan depends on a summarizer or waits for one.
 */
export function summaryTokensMax(lane: Lane): number {
  return Math.max(50, Math.min(lane.maxSummaryTokens, Math.floor(lane.limitTokens / 8)))
}

/** Tokens that a message takes in a context under a state: zero, those of its replacement, or its own. */
export function costUnder(message: Message, state: CompactionState | null): number {
  if (isCovered(message, state)) return 0
  const pruning = state?.prunings.get(message.id)
  if (!pruning) return rawCost(message)
  return pruning.action === 'remove' ? 0 : pruning.tokens + message.reasoningTokens + overheadTokens(message)
}

/** Tokens assumed for a state's summary, whatever its real length. */
export function plannedSummaryTokens(state: CompactionState | null, lane: Lane): number {
  return state?.covered == null ? 0 : summaryTokensMax(lane)
}
