import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { comparePositions, positionOf } from '../conversation/order.js'
import type { Lane } from './lane.js'
import { type CompactionState, type Coverage, isCovered } from './state.js'
import { costUnder, plannedSummaryTokens, summaryTokensMax } from './state-costs.js'

/** The range that a compaction summarizes. */
interface SummaryPlan {
  readonly topIds: readonly string[]
  readonly covered: Coverage
  readonly newlyCovered: readonly Message[]
  readonly freedTokens: number
}

/**
 * Covers the range that the strategy requests, with both cuts between turns. Pinned messages stay raw wherever they
 * are, and so does the user's latest request: an agent without it would repeat finished work.
 */
export function planSummary(
  { messages: seen, boundaries, keptRaw }: Conversation,
  state: CompactionState | null,
  lane: Lane,
  newlyPruned: ReadonlySet<string>,
): SummaryPlan | null {
  const range = lane.strategy.planCoverage?.(seen, state)
  if (!range) return null
  const topEnd = state?.covered
    ? seen.findIndex((message) => state.covered !== null && comparePositions(message, state.covered.from) >= 0)
    : firstCut(boundaries, Math.max(0, range.start))
  const bottomStart = lastCut(boundaries, Math.min(seen.length, range.end))
  const start = topEnd < 0 ? seen.length : topEnd
  if (bottomStart <= start) return null
  // The range only grows. If the only new message in it is a former latest request, covering it can wait.
  const last = seen[bottomStart - 1]
  if (!last || (state?.covered && comparePositions(last, state.covered.to) <= 0)) return null

  const latestRequest = seen.findLast((message) => message.role === 'user')
  const top = state?.covered
    ? state.topIds.filter((id) => seen.slice(0, start).some((message) => message.id === id))
    : seen.slice(0, start).map((message) => message.id)
  const kept = new Set(keptRaw)
  if (latestRequest) kept.add(latestRequest.id)
  const middle = seen.slice(start, bottomStart).filter((message) => !kept.has(message.id))
  const newlyCovered = middle.filter((message) => !isCovered(message, state))
  const first = seen[start]
  if (newlyCovered.length === 0 || !first) return null

  const cost = (message: Message) => (newlyPruned.has(message.id) ? 0 : costUnder(message, state))
  const replaced = newlyCovered.reduce((sum, message) => sum + cost(message), plannedSummaryTokens(state, lane))
  const freedTokens = replaced - summaryTokensMax(lane)
  // A summary of the maximum length must still be shorter than the messages that it replaces.
  if (freedTokens <= 0) return null
  return {
    topIds: [
      ...top,
      ...seen
        .slice(start, bottomStart)
        .filter((message) => kept.has(message.id))
        .map((message) => message.id),
    ],
    covered: { from: state?.covered?.from ?? positionOf(first), to: positionOf(last) },
    newlyCovered,
    freedTokens,
  }
}

/** The first legal cut that leaves at least `least` messages before it. */
function firstCut(boundaries: readonly boolean[], least: number): number {
  for (let cut = least; cut <= boundaries.length; cut++) if (cut === 0 || boundaries[cut - 1]) return cut
  return -1
}

/** The last legal cut at or before `most`. */
function lastCut(boundaries: readonly boolean[], most: number): number {
  for (let cut = Math.max(0, most); cut > 0; cut--) if (boundaries[cut - 1]) return cut
  return 0
}
