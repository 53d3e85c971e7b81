import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { comparePositions, positionOf } from '../conversation/order.js'
import { dueTokens, type Lane } from './lane.js'
import { planPrunings } from './plan.js'
import { planSummary } from './plan-summary.js'
import type { CompactionState, Coverage } from './state.js'

/** Share of the usage at which a compaction may be due; Mastra buffers as far ahead. */
const AHEAD_SHARE = 0.8

/** Usage of a context from which parts of its next summary are made before a compaction is due. */
export function aheadTokens(lane: Lane): number {
  return dueTokens(lane) * AHEAD_SHARE
}

/**
 * Whether a growth of the context may have completed another leaf of the next summary.
 *
 * @param before usage before the growth; null if unknown
 */
export function isLeafAhead(before: number | null, usage: number, lane: Lane): boolean {
  const from = aheadTokens(lane)
  if (usage < from) return false
  if (before === null || before < from) return true
  const leavesAt = (tokens: number) => Math.floor((tokens - from) / lane.tree.leafTokens)
  return leavesAt(usage) > leavesAt(before)
}

/**
 * The state that a compaction of the conversation as it is now would lead to, as far as a later one certainly covers the
 * same messages: up to the latest request of the user, which is kept verbatim until the next one.
 *
 * @param conversation all messages that `state` does not cover
 * @returns null if there is nothing to summarize yet, or if pruning will be enough
 */
export function stateAhead(
  conversation: Conversation,
  state: CompactionState | null,
  lane: Lane,
  headSeq: number,
  reference: (message: Message) => string,
): CompactionState | null {
  const point = conversation.messages.at(-1)
  if (point === undefined) return null
  const { prunings, freedByPruning, keptRaw } = planPrunings(conversation, state, lane, reference)
  if (dueTokens(lane) - freedByPruning <= lane.limitTokens * lane.compactTo) return null
  const newlyPruned = new Set(prunings.map(({ messageId }) => messageId))
  const plan = planSummary({ ...conversation, keptRaw }, state, lane, newlyPruned)
  const covered = plan && beforeLatestRequest(conversation.messages, plan.covered)
  if (!covered) return null
  const { topIds } = plan
  return { point: positionOf(point), headSeq, topIds, covered, summary: null, summaryTokens: 0, prunings: new Map() }
}

function beforeLatestRequest(messages: readonly Message[], covered: Coverage): Coverage | null {
  const request = messages.findLastIndex(({ role }) => role === 'user')
  const message = messages[request]
  if (message === undefined || comparePositions(positionOf(message), covered.to) > 0) return covered
  const last = messages[request - 1]
  if (last === undefined || comparePositions(positionOf(last), covered.from) < 0) return null
  return { ...covered, to: positionOf(last) }
}
