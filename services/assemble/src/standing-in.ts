import type { CompactionState, UnloadedRange, WindowBounds } from '@heddle/core'
import { CONVERSATION_MESSAGES_MAX, type Compaction, toCompactionState } from '@heddle/store'

/** A state holds while the end of what it covers is in the window; past that its summary is of nothing that is shown. */
export function stateInWindow({ current }: Compaction, { sinceMs }: WindowBounds): CompactionState | null {
  if (current === null) return null
  const state = toCompactionState(current)
  if (state.covered === null || sinceMs === null || state.covered.to.orderedAtMs > sinceMs) return state
  return { ...state, covered: null, topIds: [], summary: null, summaryTokens: 0 }
}

/** What was counted but not read: the messages that the summary covers, and those beyond the cap on reading. */
export function unloadedRanges(
  compaction: Compaction,
  state: CompactionState | null,
  hasMore: boolean,
  count: number,
): UnloadedRange[] {
  const row = compaction.current
  const covered = state?.covered == null || !row ? 0 : hasMore ? Math.min(count, row.coveredCount) : count
  return [
    { mode: 'covered', count: covered, tokens: row?.coveredTokens ?? 0, reason: 'summarized' },
    {
      mode: 'left-out',
      count: count - covered,
      tokens: 0,
      reason: `older than the newest ${CONVERSATION_MESSAGES_MAX} messages`,
    },
  ]
}
