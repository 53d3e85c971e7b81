import type { ContextStateRow } from './states.js'
import type { ThreadRow } from './threads.js'

/**
 * About how much of a thread stands uncovered by a compaction: what is read to build a context, or to compact further.
 * Estimated from counts that are kept with the thread, so that nothing need be read to know it.
 */
export function uncoveredSize(
  { headSeq, clearedSeq, tokensEstimate }: Pick<ThreadRow, 'headSeq' | 'clearedSeq' | 'tokensEstimate'>,
  state: Pick<ContextStateRow, 'coveredCount' | 'coveredTokens'> | null,
): { messages: number; tokens: number } {
  const { coveredCount, coveredTokens } = state ?? { coveredCount: 0, coveredTokens: 0 }
  const messages = Math.max(0, headSeq - clearedSeq - coveredCount)
  // What a clear has put out of the window is not counted by itself: it has its share of the tokens.
  const clearedTokens = headSeq === 0 ? 0 : (tokensEstimate * clearedSeq) / headSeq
  return { messages, tokens: Math.max(0, Math.round(tokensEstimate - clearedTokens - coveredTokens)) }
}
