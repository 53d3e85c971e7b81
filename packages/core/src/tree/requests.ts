import { readConversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import type { SummaryRequest } from '../speech/source.js'
import { summarySources } from '../summarizing/sources.js'
import { partTokensMax, type TreeShape } from './leaves.js'

export interface ReadingOptions {
  readonly reference: (message: Message) => string
  /** Applied to a text before anything is cut from it. */
  readonly prepare?: (text: string) => string
}

/** The summary of a leaf is made only from its raw messages. */
export function leafRequest(messages: readonly Message[], shape: TreeShape, options: ReadingOptions): SummaryRequest {
  return wholeRequest([], messages, partTokensMax(shape), options)
}

/** The summary of a larger part is made from those of its direct children, never from its own previous text. */
export function parentRequest(children: readonly string[], shape: TreeShape): SummaryRequest {
  return { purpose: 'compaction', messages: [], previousSummary: joined(children), tokensMax: partTokensMax(shape) }
}

/** The summary of the whole, from the parts at the top of the tree and the messages that fill no leaf yet. */
export function wholeRequest(
  parts: readonly string[],
  open: readonly Message[],
  tokensMax: number,
  sources: ReadingOptions,
): SummaryRequest {
  const { reference, ...options } = sources
  const { messages, pairs } = readConversation(open)
  const read = summarySources(messages, pairs, reference, options)
  return { purpose: 'compaction', messages: read, previousSummary: joined(parts), tokensMax }
}

/** Joins parts in order; a summarizer reads them as the summary before the messages. */
function joined(parts: readonly string[]): string | null {
  return parts.length === 0 ? null : parts.join('\n\n')
}
