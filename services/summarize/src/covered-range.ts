import type { Compaction, ContextStateRow } from '@heddle/store'
import type { AccountedSummarizer } from './accounting.js'

/** What a pending compaction covers, and who is to summarize it. */
export interface CoveredRange {
  readonly projectId: string
  readonly compaction: Compaction
  readonly pending: ContextStateRow
  readonly summarizer: AccountedSummarizer
}
