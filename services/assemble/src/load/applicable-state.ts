import type { CompactionState, UnloadedRange, WindowBounds } from '@heddle/core'
import { CONVERSATION_MESSAGES_MAX, type Compaction, type MessageCounts, toCompactionState } from '@heddle/store'

/** A state applies while the end of its range is in the window; after that, its summary is about hidden messages only. */
export function stateInWindow(compaction: Compaction, { sinceMs }: WindowBounds): CompactionState | null {
  const state = compaction.current && toCompactionState(compaction.current)
  if (state?.covered == null || sinceMs === null || state.covered.to.orderedAtMs > sinceMs) return state
  return withoutSummary(state)
}

/** For a scope that begins later than the window: a summary that also covers earlier messages is not used. */
export function stateInScope(state: CompactionState, sinceMs: number): CompactionState {
  return state.covered !== null && state.covered.from.orderedAtMs >= sinceMs ? state : withoutSummary(state)
}

function withoutSummary(state: CompactionState): CompactionState {
  return { ...state, covered: null, topIds: [], summary: null, summaryTokens: 0 }
}

/** Messages of the window that are older than the scope. */
export function beforeScope(inWindow: MessageCounts, inScope: MessageCounts, sinceMs: number | null): UnloadedRange[] {
  const count = inWindow.eligible - inScope.eligible
  if (sinceMs === null || count === 0) return []
  const range = { fromSeq: inWindow.openingSeq, toSeq: Math.max(inWindow.openingSeq, inScope.openingSeq - 1) }
  const reason = `outside of the scope: before ${new Date(sinceMs).toISOString()}`
  return [{ mode: 'left-out', count, ...range, tokens: 0, reason }]
}

/** Messages that were counted but not read: those covered by the summary, and those beyond the read limit. */
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
