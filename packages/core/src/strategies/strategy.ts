import type { Fill, FormatName } from '@heddle/contracts'
import type { CoverageRules } from '../compaction/coverage.js'
import type { Lane } from '../compaction/lane.js'
import type { CompactionState } from '../compaction/state.js'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import type { History } from '../history/history.js'

/**
 * How the window of a thread is fitted into a budget (docs/strategies.md). A strategy decides which range of the messages a summary
 * is to cover and which messages a context leaves out; what follows from that for every strategy alike is done for it:
 * cuts between whole turns, pins, prunings, the size of a summary, and the receipt.
 *
 * A strategy is pure: it has no clock, no randomness and no store, so that the same messages always give the same context
 * and every worker finds the same series of compactions.
 */
export interface ContextStrategy extends CoverageRules {
  /** Share of the limit, from 0 to 1, past which the messages between those are summarized. */
  readonly compressionThreshold: number

  /**
   * The messages that a context does without, by id, each with the reason that its receipt gives; a call is left out
   * together with its results. Left out where the strategy shows all that is not summarized.
   */
  leaveOut?(conversation: Conversation, roomTokens: number): ReadonlyMap<string, string>

  /**
   * Fits the history into a budget.
   *
   * @param cachedState the compaction in force; null where there is none. One that does not fit is passed over
   * @param maxTokens what the history may take, its summary included
   * @throws PermanentError `VALIDATION_ERROR` for a limit that is not positive or a conversation without messages;
   * `BUDGET_TOO_SMALL` with the tokens that are needed, where even the shortened form does not fit
   */
  buildContext(
    messages: readonly Message[],
    cachedState: CompactionState | null,
    maxTokens: number,
    options?: BuildOptions,
  ): StrategyContext

  /** The same for messages that were read already; says what is needed instead of refusing. */
  fitHistory(input: HistoryInput): FittedHistory | TooSmall
}

export interface BuildOptions {
  /** Default `neutral`. */
  readonly format?: FormatName
  /** Counts the tokens of a text. Default o200k. */
  readonly count?: (text: string) => number
  /** The settings that pruning and summaries follow. Default those of Heddle. */
  readonly lane?: Lane
  /** Default `msg-` and the message's code. */
  readonly reference?: (message: Message) => string
}

export interface HistoryInput {
  readonly conversation: Conversation
  /** The compaction in force; null where there is none. */
  readonly state: CompactionState | null
  /**
   * The compaction in force tells of more than the context may, so that its summary was taken away: where the rest does not
   * fit, the fallback begins anew. Default false.
   */
  readonly isStateCurtailed?: boolean
  readonly lane: Lane
  /** What the history may take, its summary included. */
  readonly roomTokens: number
  /** How a history that is larger than its room fills it; see {@link Fill}. Default `cache`. */
  readonly fill?: Fill
  /** Whether a new message of the user follows: then no turn is under way, and the history may be left out. Default false. */
  readonly isAnswered?: boolean
  /** Whether the summary of the compaction in force stands for messages, too, that were not loaded. Default false. */
  readonly hasUnloadedCovered?: boolean
  /**
   * Whether the background compacts the thread in this lane: then a context is what it will be once that was done. Default true.
   */
  readonly isLaneKept?: boolean
  readonly headSeq: number
  readonly format: FormatName
  readonly count: (text: string) => number
  /** Whether the stored counts of messages were made by `count`. */
  readonly storedCountsFit: boolean
  readonly reference: (message: Message) => string
}

/** A history within its room. */
export interface FittedHistory {
  readonly history: History
  /** What it was laid out under: the compaction in force, or one that was made for this context. */
  readonly state: CompactionState | null
  /** Whether the summary is that of the compaction in force. */
  readonly isSummaryPublished: boolean
  readonly summary: NeutralMessage | null
  readonly tokens: number
  /** Deviations that the reader should know of. */
  readonly notes: readonly string[]
}

/** No form of the history fits; this is what the smallest needs, at least. */
export interface TooSmall {
  readonly neededTokens: number
}

/** What a strategy makes of a window (docs/strategies.md#a-strategy-of-your-own). */
export interface StrategyContext {
  /** With the summary among them, where there is one. */
  readonly messages: readonly NeutralMessage[]
  readonly summaryUsed: boolean
  readonly tokensUsed: number
  /** A compaction that was made for this context, for the caller to keep; null where none was needed. */
  readonly newState: CompactionState | null
}
