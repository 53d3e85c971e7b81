import type { SummaryCall } from '@heddle/contracts'
import type { SummaryRequest } from '@heddle/core'

/**
 * Puts messages into fewer words. What it returns is checked by its caller before it replaces anything.
 *
 * One that fails leaves everything to its caller: a compaction stays as it was and is tried again, a snapshot is saved all
 * the same, with {@link SUMMARY_FAILED} in the place of its summary (docs/snapshots.md).
 */
export interface Summarizer {
  /** Stored with each summary: `extractive`, or a provider and its model. */
  readonly name: string
  /** Whether it sends messages to a provider: then each call costs something, and secrets are taken out before. */
  readonly isRemote?: boolean
  /** Messages that one summary may be made of; of a longer range the newest. Default `SUMMARIZED_MESSAGES_MAX` of core. */
  readonly messagesMax?: number
  /**
   * @throws the signal's reason once it is aborted; any other error leaves everything as it was and may be tried again
   */
  summarize(request: SummaryRequest, signal?: AbortSignal, along?: SummaryCompanions): Promise<string>
}

/** What goes along with a summary. */
export interface SummaryCompanions {
  /** Told of each call of a provider, also of those that failed. */
  readonly onCall?: (call: SummaryCall) => void
  /** Keeps what a fold has finished, so that a retry after a failure goes on with the rest. Default: nothing is kept. */
  readonly parts?: FinishedParts
}

/** The summaries of parts that a fold has finished, by a hash of what they were made of, as hexadecimal digits. */
export interface FinishedParts {
  load(hash: string): Promise<string | null>
  keep(hash: string, summary: string): Promise<void>
}
