import type { ThreadRow } from '../threads/threads.js'
import type { ContextStateRow } from './states.js'

/**
 * The approximate size of the messages that no compaction covers: those that a context build or the next compaction reads.
 * Estimated from counts that are stored with the thread, without reading messages.
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
  // The tokens of cleared messages are not stored separately: their share is estimated by their number.
  const clearedTokens = stored === 0 ? 0 : (tokensEstimate * cleared) / stored
  return { messages, tokens: Math.max(0, Math.round(tokensEstimate - clearedTokens - coveredTokens)) }
}
