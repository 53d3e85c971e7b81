import type { Fill, FormatName } from '@heddle/contracts'
import type { CoverageRules } from '../compaction/coverage.js'
import type { Lane } from '../compaction/lane.js'
import type { CompactionState } from '../compaction/state.js'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import type { History } from '../history/history.js'

/**
 * How the window of a thread is fitted into a budget (docs/strategies.md). A strategy decides which range of the
 * messages a summary covers and which messages a context leaves out; everything common to all strategies is done for
 * it: cuts between whole turns, pins, prunings, the size of a summary, and the receipt.
 *
 * A strategy is pure: it has no clock, no randomness and no store, so that the same messages always give the same
 * context and every worker finds the same series of compactions.
 */
export interface ContextStrategy extends CoverageRules {
  /**
   * The messages that a context leaves out, by id, each with the reason for the receipt; a call is left out together
   * with its results. Absent if the strategy shows all messages that are not summarized.
   */
  leaveOut?(conversation: Conversation, roomTokens: number): ReadonlyMap<string, string>

  /**
   * Fits the history into a budget.
   *
   * @param cachedState the compaction in force, or null. One that does not fit is ignored
   * @param maxTokens maximum tokens of the history, its summary included
   * @throws PermanentError `VALIDATION_ERROR` for a limit that is not positive or a conversation without messages;
   * `BUDGET_TOO_SMALL` with the tokens that are needed, if even the shortest form does not fit
   */
  buildContext(
    messages: readonly Message[],
    cachedState: CompactionState | null,
    maxTokens: number,
    options?: BuildOptions,
  ): StrategyContext

  /** The same for a parsed conversation; returns the needed tokens instead of throwing. */
  fitHistory(input: HistoryInput): FittedHistory | TooSmall
}

export interface BuildOptions {
  /** Default `neutral`. */
  readonly format?: FormatName
  /** Counts the tokens of a text. Default o200k. */
  readonly count?: (text: string) => number
  /** The settings for pruning and summaries. Default: Heddle's defaults. */
  readonly lane?: Lane
  /** Default `msg-` and the message's code. */
  readonly reference?: (message: Message) => string
}

export interface HistoryInput {
  readonly conversation: Conversation
  /** The compaction in force, or null. */
  readonly state: CompactionState | null
  /**
   * The compaction in force covers more than the context may show, so its summary was removed: if the rest does not
   * fit, the fallback starts from scratch. Default false.
   */
  readonly isStateCurtailed?: boolean
  readonly lane: Lane
  /** Maximum tokens of the history, its summary included. */
  readonly roomTokens: number
  /** How a history that is larger than its budget fills it; see {@link Fill}. Default `cache`. */
  readonly fill?: Fill
  /**
   * Whether a new message of the user follows: then no turn is open, and the history may be left out. Default false.
   */
  readonly isAnswered?: boolean
  /** Whether the summary of the compaction in force also covers messages that were not loaded. Default false. */
  readonly hasUnloadedCovered?: boolean
  /**
   * Whether background compaction maintains this lane: then a context anticipates its next compaction. Default true.
   */
  readonly isLaneKept?: boolean
  readonly headSeq: number
  readonly format: FormatName
  readonly count: (text: string) => number
  /** Whether stored token counts of messages were made by `count`. */
  readonly storedCountsFit: boolean
  readonly reference: (message: Message) => string
}

/** A history fitted into its budget. */
export interface FittedHistory {
  readonly history: History
  /** The state it was laid out under: the compaction in force, or one made for this context. */
  readonly state: CompactionState | null
  /** Whether the summary is that of the compaction in force. */
  readonly isSummaryPublished: boolean
  readonly summary: NeutralMessage | null
  readonly tokens: number
  /** Notes for the receipt about deviations. */
  readonly notes: readonly string[]
}

/** No form of the history fits; the tokens that the smallest needs. */
export interface TooSmall {
  readonly neededTokens: number
}

/** The result of a strategy (docs/strategies.md#a-strategy-of-your-own). */
export interface StrategyContext {
  /** Including the summary, if any. */
  readonly messages: readonly NeutralMessage[]
  readonly summaryUsed: boolean
  readonly tokensUsed: number
  /** A compaction made for this context, for the caller to store; null if it was not needed. */
  readonly newState: CompactionState | null
}
