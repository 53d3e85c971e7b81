import type { ContextResult, ReceiptEntry } from '@heddle/contracts'
import type { KnownMessage } from '../record/known-messages.js'

/** A text in place of all entries of a conversation before one. */
export interface CoveringText {
  readonly before: number
  readonly text: string
}

/** Modes of messages that a context does not show. */
const HIDDEN: ReadonlySet<ReceiptEntry['mode']> = new Set(['covered', 'left-out', 'removed'])
const INTRODUCTION = '[The earlier part of this conversation, condensed by Heddle. All of it is stored.]'

/**
 * A context as a text for everything before the messages that follow its summary: those stay in the request as they are. A
 * context without a summary shows every message, the old ones condensed: it is the text for all of them before an entry.
 *
 * @param keptFrom that entry
 * @returns null if the context says nothing of some message, or shows no message that stays
 */
export function coveredBy(
  context: ContextResult,
  known: readonly KnownMessage[],
  keptFrom: number,
): CoveringText | null {
  const history = context.receipt.entries.filter(({ section }) => section === 'history')
  if (history.some(({ mode }) => mode === 'left-out')) return null
  const shown = history.filter(({ mode }) => !HIDDEN.has(mode))
  const entryOf = new Map(known.map(({ id, entry }) => [id, entry]))
  const summary = shown.findLastIndex(({ count, messageId }) => count === 0 && messageId === undefined)
  const isKept = ({ messageId = '' }: ReceiptEntry) => (entryOf.get(messageId) ?? -1) >= keptFrom
  const first = summary < 0 ? shown.findIndex(isKept) : summary + 1
  const before = entryOf.get(shown[first]?.messageId ?? '')
  if (before === undefined) return null
  // Sections before the history, such as instructions, have no line in it.
  const begin = context.messages.length - shown.length
  const lines = context.messages.slice(0, begin + first).flatMap((message, index) => {
    const isStored = shown[index - begin]?.messageId !== undefined
    // Stored instructions stay in the request itself.
    return message['role'] === 'system' && isStored ? [] : [lineOf(message)]
  })
  return { before, text: [INTRODUCTION, ...lines].join('\n\n') }
}

/** A whole context as one text, in place of the conversation. */
export function textOfContext({ messages }: Pick<ContextResult, 'messages'>): string {
  return messages.map(lineOf).join('\n\n')
}

function lineOf({ role, content, toolCalls }: ContextResult['messages'][number]): string {
  const said = typeof content === 'string' ? content : JSON.stringify(content)
  const calls = Array.isArray(toolCalls) ? `\n${JSON.stringify(toolCalls)}` : ''
  return role === 'system' ? said : `${String(role)}: ${said}${calls}`
}
