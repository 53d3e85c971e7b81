import type { SummaryCall } from '@heddle/contracts'
import type { SummaryRequest } from '@heddle/core'

/**
 * Summarizes messages. The caller checks the result before it replaces anything.
 *
 * After a failure a compaction stays pending and is retried, and a snapshot is saved with {@link SUMMARY_FAILED} instead of a
 * summary (docs/snapshots.md).
 */
export interface Summarizer {
  /** Stored with each summary: `extractive`, or a provider and its model. */
  readonly name: string
  /** Whether it sends messages to a provider: then each call may cost money, and secrets are redacted before. */
  readonly isRemote?: boolean
  /** Most messages of one summary; of a longer range the newest are used. Default `SUMMARIZED_MESSAGES_MAX` of core. */
  readonly messagesMax?: number
  /**
   * @throws the signal's reason once it is aborted; any other error changes nothing and may be retried
   */
  summarize(request: SummaryRequest, signal?: AbortSignal, along?: SummaryCompanions): Promise<string>
}

/** Optional hooks of a summary. */
export interface SummaryCompanions {
  /** Called after each call of a provider, including failed ones. */
  readonly onCall?: (call: SummaryCall) => void
  /** Stores finished parts of a fold, so that a retry continues with the others. Default: nothing is stored. */
  readonly parts?: FinishedParts
}

/** The summaries of finished parts of a fold, by a hexadecimal hash of their input. */
export interface FinishedParts {
  load(hash: string): Promise<string | null>
  keep(hash: string, summary: string): Promise<void>
}
