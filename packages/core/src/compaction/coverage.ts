import type { Message } from '../conversation/message.js'
import type { CompactionState } from './state.js'

/** What a compaction asks of the strategy of a lane: when it is due, and what it is to cover. */
export interface CoverageRules {
  readonly name: string
  /** The first messages, which no summary covers. A count; cuts move on to the end of a turn. */
  readonly preserveTop: number
  /** The newest messages, which no summary covers. A count; cuts move back to the beginning of a turn. */
  readonly preserveBottom: number
  /**
   * What else its decisions depend on, as text. States of a thread are kept by strategy and settings: two strategies of one
   * name that decide differently must differ in this.
   */
  readonly key: string
  /**
   * Whether a summary is always made by levels, of parts that keep their own summaries, or only where more is covered than
   * one summary can be made of (`SUMMARIZED_MESSAGES_MAX`).
   */
  readonly summaryParts: 'always' | 'when-long'
  /**
   * Whether what the messages take is past the threshold, and there are enough of them to summarize some.
   *
   * @param usedTokens what they take, where that is known from elsewhere; default their own counts
   */
  needsCompression(messages: readonly Message[], maxTokens: number, usedTokens?: number): boolean
  /**
   * The range that a compaction right after the last message is to cover; null where there is none. Cuts within a turn are
   * moved inwards, and what an earlier compaction covered stays covered. Left out where the strategy never compacts: then
   * nothing is pruned either.
   *
   * @param seen the eligible messages up to the compaction, in order; of those that a summary covers some may be missing
   */
  planCoverage?(seen: readonly Message[], state: CompactionState | null): CoverageRange | null
}

/** Indices into the messages that were seen: the first that is covered, and the one after the last. */
export interface CoverageRange {
  readonly start: number
  readonly end: number
}
