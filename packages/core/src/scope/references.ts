import type { CompactionState, Pruning } from '../compaction/state.js'
import { elidedInput } from '../conversation/calls.js'
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

/** A pruning with references that resolve outside of its thread; its tokens are those of before. */
export function pruningIn(pruning: Pruning, thread: string): Pruning {
  const calls = pruning.calls?.map((call) => ({ ...call, text: fromAnywhere(call.text, thread) })) ?? null
  return { ...pruning, text: fromAnywhere(pruning.text, thread), calls }
}

function pruningFromAnywhere(pruning: Pruning, thread: string, count: (text: string) => number): Pruning {
  const moved = pruningIn(pruning, thread)
  const before = textsOf(pruning)
  const added = textsOf(moved).reduce((sum, text, index) => sum + count(text) - count(before[index] ?? ''), 0)
  return added === 0 ? pruning : { ...moved, tokens: pruning.tokens + added }
}

/** The texts of a pruning, those of calls as the JSON that contexts contain. */
function textsOf({ text, calls }: Pruning): string[] {
  return [text, ...(calls ?? []).map((call) => JSON.stringify(elidedInput(call.text)))]
}
