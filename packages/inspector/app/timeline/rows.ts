import type { ContextSummary, MessageEntry } from '@heddle/contracts'

export type Row =
  | {
      readonly kind: 'message'
      readonly key: string
      readonly message: MessageEntry
      /** The results of its calls, by the id of the call. */
      readonly results: ReadonlyMap<string, MessageEntry>
    }
  | { readonly kind: 'context'; readonly key: string; readonly context: ContextSummary }

export interface Extent {
  readonly order: 'asc' | 'desc'
  readonly isComplete: boolean
  readonly isFromStart: boolean
}

/**
 * Messages and the contexts between them, in the order of the messages. A result is shown with its call, once both are
 * loaded.
 *
 * @param isComplete whether the messages reach the end in their direction: contexts beyond the loaded ones come later
 * @param isFromStart whether they begin at its start: contexts before the loaded ones come with earlier pages
 */
export function timelineRows(
  messages: readonly MessageEntry[],
  contexts: readonly ContextSummary[],
  { order, isComplete, isFromStart }: Extent,
): Row[] {
  const calls = new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)))
  const results = new Map<string, MessageEntry>()
  for (const message of messages) {
    const { toolCallId } = message
    if (toolCallId !== undefined && calls.has(toolCallId) && !results.has(toolCallId)) results.set(toolCallId, message)
  }
  const rows: Row[] = []
  const [first] = messages
  const sign = order === 'asc' ? 1 : -1
  const waiting = contexts
    .filter(({ requestedAt }) => isFromStart || (first && sign * requestedAt.localeCompare(first.orderedAt) >= 0))
    .sort((left, right) => sign * left.requestedAt.localeCompare(right.requestedAt))
  const showContexts = (until: string | null) => {
    while (waiting[0] !== undefined && (until === null || sign * waiting[0].requestedAt.localeCompare(until) < 0)) {
      const [context] = waiting.splice(0, 1)
      if (context !== undefined) rows.push({ kind: 'context', key: context.id, context })
    }
  }
  for (const message of messages) {
    showContexts(message.orderedAt)
    const { toolCallId } = message
    if (toolCallId !== undefined && results.get(toolCallId) === message) continue
    rows.push({ kind: 'message', key: message.id, message, results })
  }
  if (isComplete) showContexts(null)
  return rows
}
