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
  /**
   * Calls the model with another prompt; undefined if there is no model. The caller checks the answer, which is untrusted.
   *
   * @returns null if the model gave no whole answer: it refused, was cut off, or its window is too small
   * @throws as `summarize`
   */
  answer?(prompt: OwnPrompt, signal: AbortSignal, along?: Pick<SummaryCompanions, 'onCall'>): Promise<string | null>
}

/** A prompt of a caller's own, such as that for facts. */
export interface OwnPrompt {
  readonly purpose: SummaryCall['purpose']
  readonly system: string
  /** Secrets are redacted in it. */
  readonly user: string
  /** The longest answer. */
  readonly tokensMax: number
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
