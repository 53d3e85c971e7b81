import { ineligibleReason } from '../conversation/eligibility.js'
import type { Message } from '../conversation/message.js'
import { dueTokens, type Lane } from './lane.js'
import { type CompactionState, isOvertaken } from './state.js'
import { costUnder, plannedSummaryTokens } from './state-costs.js'
import { reportedTokens } from './usage.js'

/**
 * Tokens that the messages outside a state's coverage take in a context; null if one of them has a provider's report,
 * because the total then depends on their order.
 */
export function usageUnder(messages: readonly Message[], state: CompactionState | null, lane: Lane): number | null {
  if (messages.some((message) => reportedTokens(message) !== null)) return null
  return messages.reduce((sum, message) => sum + costUnder(message, state), plannedSummaryTokens(state, lane))
}

/**
 * The usage after more messages, if it is certain that they make no compaction due; null if deciding needs the whole
 * conversation. `nextCompaction` searches for a prefix that exceeds the threshold or the trigger: if all messages
 * together are below both, there is no such prefix in any order.
 *
 * @param usage result of {@link usageUnder} before they came
 */
export function usageBelowTrigger(
  usage: number,
  added: readonly Message[],
  state: CompactionState | null,
  lane: Lane,
): number | null {
  const eligible = added.filter((message) => ineligibleReason(message) === null)
  if (state !== null && eligible.some((message) => isOvertaken(state, message))) return null
  const more = usageUnder(eligible, null, lane)
  return more === null || usage + more >= dueTokens(lane) ? null : usage + more
}
