import type { CompactionState } from '../compaction/state.js'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { comparePositions } from '../conversation/order.js'
import { isAssistantSide } from '../conversation/turns.js'
import type { Line } from './line.js'
import { LineWriter } from './line-writer.js'
import { type Fate, type FateOptions, fateOf } from './message-outcomes.js'

export interface History {
  /** Well-formed: each assistant message with calls is followed at once by one result per call, in their order. */
  readonly lines: readonly Line[]
  /** Eligible messages that are not in `lines`: covered, removed or left out. */
  readonly absent: readonly { message: Message; fate: Fate }[]
  /** Index in `lines` where the summary belongs. */
  readonly summaryAt: number
  readonly notes: readonly string[]
}

/**
 * Lays out a conversation as messages that every provider accepts. A call and its result are included together or not
 * at all: unanswered calls get a placeholder result, and a result whose call is not included becomes user text. Call
 * ids that a source used twice are made unique.
 */
export function layOutHistory(
  conversation: Conversation,
  state: CompactionState | null,
  options: FateOptions,
): History {
  const absent: { message: Message; fate: Fate }[] = []
  const visible: { message: Message; fate: Fate }[] = []
  for (const message of conversation.messages) {
    const fate = fateOf(message, state, options)
    const isAbsent = fate.mode === 'covered' || fate.mode === 'removed' || fate.mode === 'left-out'
    ;(isAbsent ? absent : visible).push({ message, fate })
  }

  const fates = new Map(visible.map((entry) => [entry.message.id, entry.fate]))
  const writer = new LineWriter(conversation, fates, options)
  let summaryAt: number | null = null
  for (let at = 0; at < visible.length; ) {
    const entry = visible[at]
    if (!entry) break
    const afterCovered = state?.covered != null && comparePositions(entry.message, state.covered.from) >= 0
    if (summaryAt === null && afterCovered) summaryAt = writer.lines.length
    if (isAssistantSide(entry.message)) {
      let end = at
      while (end < visible.length && isAssistantSide((visible[end] ?? entry).message)) end++
      writer.writeRun(visible.slice(at, end).map(({ message }) => message))
      at = end
    } else {
      writer.writeOther(entry.message)
      at++
    }
  }
  return { lines: writer.lines, absent, summaryAt: summaryAt ?? writer.lines.length, notes: writer.notes() }
}
