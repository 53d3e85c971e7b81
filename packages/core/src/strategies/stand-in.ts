import type { Fill } from '@heddle/contracts'
import type { Lane } from '../compaction/lane.js'
import type { CompactionState } from '../compaction/state.js'
import { summaryTokensMax } from '../compaction/state-costs.js'

/** The compaction in force of another lane of the same thread. */
export interface OtherState {
  readonly lane: Lane
  readonly state: Pick<CompactionState, 'covered' | 'summary' | 'summaryTokens'>
}

/**
 * How a context of a lane without a state of its own is made from the state of the thread's own lane, so that the first
 * request of a budget reads only the messages that this state left, and already has a model's summary. The states that are
 * published for the lane do not depend on it: their series begins at the first message.
 *
 * - `continue`: the lane has the lower limit, so it would cover what the other one covers. Its compactions continue from
 *   there.
 * - `fill`: the lane has the higher limit, so it would show messages that the other one covers. They are read again, as
 *   many as fit the budget, and the summary stands for the rest. Compactions cannot be continued from there, because a
 *   covered range only grows.
 * - null: the state does not fit. Other strategies keep other messages at the top and the bottom; a summary that is longer
 *   than the lane allows breaks the plans of its compactions, which assume the maximum length; and a request for `cache`
 *   at a higher limit needs the same beginning as the later contexts of its lane, which a filled budget does not have.
 *
 * @param fill as the request or the settings say; null if neither does
 */
export function standIn(other: OtherState, lane: Lane, fill: Fill | null): 'continue' | 'fill' | null {
  const { covered, summary, summaryTokens } = other.state
  if (covered === null || summary === null || summaryTokens > summaryTokensMax(lane)) return null
  const { strategy } = other.lane
  // All other settings of a lane are the thread's, in both.
  if (strategy.name !== lane.strategy.name || strategy.key !== lane.strategy.key) return null
  if (lane.limitTokens <= other.lane.limitTokens) return 'continue'
  return fill === 'cache' ? null : 'fill'
}
