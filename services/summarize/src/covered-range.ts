import type { CompactionState } from '@heddle/core'
import type { Compaction, SeriesUpTo } from '@heddle/store'
import type { AccountedSummarizer } from './accounting.js'

/** A range to summarize, and its summarizer. */
export interface CoveredRange {
  readonly projectId: string
  readonly compaction: Compaction
  readonly state: CompactionState
  /** The compactions whose leaves the range continues; null if it is the first. */
  readonly series: SeriesUpTo | null
  /** The compaction for which its leaves are recorded; null if only their summaries are made, ahead of it. */
  readonly stateId: string | null
  readonly summarizer: AccountedSummarizer
}
