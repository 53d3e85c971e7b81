import type { CompactionState, UnloadedRange, WindowBounds } from '@heddle/core'
import { CONVERSATION_MESSAGES_MAX, type Compaction, type MessageCounts, toCompactionState } from '@heddle/store'

/** A state holds while the end of what it covers is in the window; past that its summary is of nothing that is shown. */
export function stateInWindow(compaction: Compaction, { sinceMs }: WindowBounds): CompactionState | null {
  const state = compaction.current && toCompactionState(compaction.current)
  if (state?.covered == null || sinceMs === null || state.covered.to.orderedAtMs > sinceMs) return state
  return withoutSummary(state)
}

/** For a scope that begins later than the window: a summary that tells of what was before it, too, is none of its own. */
export function stateInScope(state: CompactionState, sinceMs: number): CompactionState {
  return state.covered !== null && state.covered.from.orderedAtMs >= sinceMs ? state : withoutSummary(state)
}

function withoutSummary(state: CompactionState): CompactionState {
  return { ...state, covered: null, topIds: [], summary: null, summaryTokens: 0 }
}

/** What a scope that begins later than the window leaves out of it. */
export function beforeScope(inWindow: MessageCounts, inScope: MessageCounts, sinceMs: number | null): UnloadedRange[] {
  const count = inWindow.eligible - inScope.eligible
  if (sinceMs === null || count === 0) return []
  const range = { fromSeq: inWindow.openingSeq, toSeq: Math.max(inWindow.openingSeq, inScope.openingSeq - 1) }
  const reason = `outside of the scope: before ${new Date(sinceMs).toISOString()}`
  return [{ mode: 'left-out', count, ...range, tokens: 0, reason }]
}

/** What was counted but not read: the messages that the summary covers, and those beyond the cap on reading. */
export function unloadedRanges(
  compaction: Compaction,
  state: CompactionState | null,
  hasMore: boolean,
  count: number,
  loadedCoveredTokens = 0,
): UnloadedRange[] {
  const row = compaction.current
  const covered = state?.covered == null || !row ? 0 : hasMore ? Math.min(count, row.coveredCount) : count
  return [
    {
      mode: 'covered',
      count: covered,
      tokens: Math.max(0, (row?.coveredTokens ?? 0) - loadedCoveredTokens),
      reason: 'summarized',
    },
    {
      mode: 'left-out',
      count: count - covered,
      tokens: 0,
      reason: `older than the newest ${CONVERSATION_MESSAGES_MAX} messages`,
    },
  ]
}
