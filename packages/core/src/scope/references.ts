import type { CompactionState, Pruning } from '../compaction/state.js'
import { formatReference } from '../conversation/references.js'

/** A message's reference that resolves outside its thread. */
export function referenceIn(thread: string, code: string): string {
  return formatReference({ project: null, thread, message: code })
}

/** Texts for readers of one thread use short references; readers elsewhere need the thread too. */
export function fromAnywhere(text: string, thread: string): string {
  return text.replaceAll('[recall:msg-', `[recall:${referenceIn(thread, '')}`)
}

/**
 * The state of a thread with references that resolve outside of it, and the tokens of these texts.
 *
 * @param count of the counter that the request names
 */
export function stateFromAnywhere(
  state: CompactionState,
  thread: string,
  count: (text: string) => number,
): CompactionState {
  const prunings = [...state.prunings].map(
    ([id, pruning]) => [id, pruningFromAnywhere(pruning, thread, count)] as const,
  )
  if (state.summary === null) return { ...state, prunings: new Map(prunings) }
  const summary = fromAnywhere(state.summary, thread)
  const summaryTokens = summary === state.summary ? state.summaryTokens : count(summary)
  return { ...state, summary, summaryTokens, prunings: new Map(prunings) }
}

function pruningFromAnywhere(pruning: Pruning, thread: string, count: (text: string) => number): Pruning {
  const text = fromAnywhere(pruning.text, thread)
  return text === pruning.text
    ? pruning
    : { ...pruning, text, tokens: pruning.tokens + count(text) - count(pruning.text) }
}
