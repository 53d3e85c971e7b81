import type { CompactionState } from '../compaction/state.js'
import type { Conversation } from '../conversation/conversation.js'
import { countNeutralMessage } from '../formats/index.js'
import { type Counting, countLine } from '../history/counting.js'
import type { Caps } from '../history/fit.js'
import { type History, layOutHistory } from '../history/history.js'
import { summaryMessage } from '../history/summary-message.js'
import type { FittedHistory, HistoryInput } from './strategy.js'

/** The outcome of each message of a history. */
export interface Layout {
  readonly conversation: Conversation
  readonly state: CompactionState | null
  readonly leftOut: ReadonlyMap<string, string>
  readonly caps: Caps
}

/** Tokens of a summary as a message in the request's format. */
export function countSummary(summary: string, { format, count }: HistoryInput): number {
  return countNeutralMessage(format, summaryMessage(summary, format), count)
}

/** Lays out a history and counts it as it is sent. */
export function layOut(layout: Layout, input: HistoryInput, notes: readonly string[]): FittedHistory {
  const { conversation, state, leftOut, caps } = layout
  const { format, count, reference, storedCountsFit } = input
  const summary = state?.summary ?? null
  const summaryTokens = summary === null ? 0 : countSummary(summary, input)
  const history = layOutHistory(conversation, state, { caps, leftOut, reference, count })
  const counting: Counting = { format, count, storedCountsFit }
  const tokens = history.lines.reduce((sum, line) => sum + countLine(line, counting), summaryTokens)
  const elidedNote = caps.size > 0 ? [`${messagesWere(caps.size)} shortened to fit the budget`] : []
  return {
    history,
    state,
    isSummaryPublished: summary !== null && summary === input.state?.summary,
    summary: summary === null ? null : summaryMessage(summary, format),
    tokens,
    notes: [...notes, ...history.notes, ...elidedNote, ...undoneNotes(history)],
  }
}

/** Notes on messages whose pruning was undone but which are not included verbatim. */
function undoneNotes({ lines, absent }: History): string[] {
  const all = [...lines.flatMap((line) => line.sources), ...absent]
  const count = all.filter(({ message, fate }) => message.undone === true && fate.mode !== 'raw').length
  return count === 0 ? [] : [`${count} messages whose pruning was undone do not fit, and stay pruned`]
}

/** `1 message was`, `2 messages were` */
export function messagesWere(count: number): string {
  return count === 1 ? '1 message was' : `${count} messages were`
}

export function reasoningNotes(dropped: number): string[] {
  return dropped === 0
    ? []
    : [
        `the reasoning of ${dropped === 1 ? '1 message' : `${dropped} messages`} of earlier turns was dropped to fit the budget`,
      ]
}
