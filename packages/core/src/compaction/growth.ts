import { ineligibleReason } from '../conversation/eligibility.js'
import type { Message } from '../conversation/message.js'
import { type Lane, triggerTokens } from './lane.js'
import { type CompactionState, isOvertaken } from './state.js'
import { costUnder, plannedSummaryTokens } from './state-costs.js'
import { reportedTokens } from './usage.js'

/**
 * What the messages that a state does not cover take in a context, in tokens; null where a provider's report stands among
 * them, because then it depends on their order.
 */
export function usageUnder(messages: readonly Message[], state: CompactionState | null, lane: Lane): number | null {
  if (messages.some((message) => reportedTokens(message) !== null)) return null
  return messages.reduce((sum, message) => sum + costUnder(message, state), plannedSummaryTokens(state, lane))
}

/**
 * The usage after more messages came, where it is sure that they make no compaction due; null where only the whole
 * conversation can tell. `nextCompaction` looks at places up to which the context has grown past the trigger: with all of
 * it below the trigger there is none, whatever the order.
 *
 * @param usage what {@link usageUnder} gave before they came
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
  return more === null || usage + more >= triggerTokens(lane.limitTokens) ? null : usage + more
}
