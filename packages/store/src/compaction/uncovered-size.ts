import type { ThreadRow } from '../threads/threads.js'
import type { ContextStateRow } from './states.js'

/**
 * About how much of a thread stands uncovered by a compaction: what is read to build a context, or to compact further.
 * Estimated from counts that are kept with the thread, so that nothing need be read to know it.
 */
export function uncoveredSize(
  {
    headSeq,
    baseSeq,
    clearedSeq,
    tokensEstimate,
  }: Pick<ThreadRow, 'headSeq' | 'baseSeq' | 'clearedSeq' | 'tokensEstimate'>,
  state: Pick<ContextStateRow, 'coveredCount' | 'coveredTokens'> | null,
): { messages: number; tokens: number } {
  const { coveredCount, coveredTokens } = state ?? { coveredCount: 0, coveredTokens: 0 }
  const stored = headSeq - baseSeq
  const cleared = Math.max(0, clearedSeq - baseSeq)
  const messages = Math.max(0, stored - cleared - coveredCount)
  // What a clear has put out of the window is not counted by itself: it has its share of the tokens.
  const clearedTokens = stored === 0 ? 0 : (tokensEstimate * cleared) / stored
  return { messages, tokens: Math.max(0, Math.round(tokensEstimate - clearedTokens - coveredTokens)) }
}
