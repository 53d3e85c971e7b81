import type { Compaction, ContextStateRow } from '@heddle/store'
import type { AccountedSummarizer } from './accounting.js'

/** The range of a pending compaction, and its summarizer. */
export interface CoveredRange {
  readonly projectId: string
  readonly compaction: Compaction
  readonly pending: ContextStateRow
  readonly summarizer: AccountedSummarizer
}
