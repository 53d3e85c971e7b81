import type { Message } from '../conversation/message.js'
import type { CompactionState } from './state.js'

/** Decisions of a strategy about compaction: when it is due, and which range to cover. */
export interface CoverageRules {
  readonly name: string
  /** The first messages, which no summary covers. A count; cuts move on to the end of a turn. */
  readonly preserveTop: number
  /** The newest messages, which no summary covers. A count; cuts move back to the beginning of a turn. */
  readonly preserveBottom: number
  /** Share of the limit, from 0 to 1, past which the middle messages are summarized. */
  readonly compressionThreshold: number
  /**
   * Further settings that affect its decisions, as text. States of a thread are stored by strategy and settings: two
   * strategies of one name that decide differently must have different keys.
   */
  readonly key: string
  /**
   * Whether a summary is always made hierarchically, from parts that keep their own summaries, or only when the covered
   * range exceeds what one summary can be made of (`SUMMARIZED_MESSAGES_MAX`).
   */
  readonly summaryParts: 'always' | 'when-long'
  /**
   * Whether the messages exceed the threshold, and there are enough of them to summarize some.
   *
   * @param usedTokens their tokens, if known from elsewhere; default their own counts
   */
  needsCompression(messages: readonly Message[], maxTokens: number, usedTokens?: number): boolean
  /**
   * The range to cover for a compaction right after the last message, or null. Cuts within a turn are moved inwards,
   * and a range that is covered stays covered. Absent if the strategy never compacts; then nothing is pruned either.
   *
   * @param seen the eligible messages up to the compaction, in order; some of those that a summary covers may be
   * missing
   */
  planCoverage?(seen: readonly Message[], state: CompactionState | null): CoverageRange | null
}

/** Indices into `seen`: the first covered message, and the one after the last. */
export interface CoverageRange {
  readonly start: number
  readonly end: number
}
