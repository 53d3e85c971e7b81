import type { CondensedCall } from '../conversation/calls.js'
import type { Message, Position } from '../conversation/message.js'
import { comparePositions } from '../conversation/order.js'

/** The replacement of a message in a context. */
export interface Pruning {
  readonly messageId: string
  readonly action: 'condense' | 'remove' | 'stub'
  /** The text that replaces that of the message; empty if it is removed, or if only inputs of calls are replaced. */
  readonly text: string
  /** The calls whose inputs are replaced; null without any. */
  readonly calls: readonly CondensedCall[] | null
  /** Tokens of the text and of the calls that stay; reasoning that stays is counted with its message. */
  readonly tokens: number
  readonly reason: string
}

/** Whether only inputs of calls are replaced, so that the text of the message stays. */
export function keepsText({ action, text }: Pick<Pruning, 'action' | 'text'>): boolean {
  return action === 'condense' && text === ''
}

/** A range of a conversation, both ends included. */
export interface Coverage {
  readonly from: Position
  readonly to: Position
}

/**
 * A thread's compacted form after one compaction. The next one builds on it; the series is a function of the ordered
 * messages, the lane, and the summaries.
 */
export interface CompactionState {
  /** The newest message that the compaction took into account. */
  readonly point: Position
  /** The thread's head at that time: a later message inside the covered range is not covered. */
  readonly headSeq: number
  /**
   * Messages up to the point that the summary does not cover: the first ones, the pinned ones with their turns, and the
   * user's latest request.
   */
  readonly topIds: readonly string[]
  readonly covered: Coverage | null
  readonly summary: string | null
  readonly summaryTokens: number
  /** Prunings in force, by message id. */
  readonly prunings: ReadonlyMap<string, Pruning>
}

/** Whether the state's summary replaces the message. */
export function isCovered(message: Message, state: CompactionState | null): boolean {
  if (state?.covered == null || state.topIds.includes(message.id)) return false
  return (
    message.seq <= state.headSeq &&
    comparePositions(message, state.covered.from) >= 0 &&
    comparePositions(message, state.covered.to) <= 0
  )
}

/** Whether a message came late: it sorts before the point of a compaction that did not include it. */
export function isOvertaken(state: CompactionState, message: Message): boolean {
  return message.seq > state.headSeq && comparePositions(message, state.point) <= 0
}
