import { isCovered } from '../compaction/state.js'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { dropOldReasoning } from '../delivery/reasoning.js'
import { smallestCaps } from '../history/fit.js'
import { CROWDED_OUT } from './crowd-out.js'
import { countSummary, layOut, reasoningNotes } from './lay-out.js'
import type { ContextStrategy, FittedHistory, HistoryInput } from './strategy.js'

/**
 * The smallest form of a history, which no budget changes: a budget that holds it works, and so does every larger one. It is
 * what must not be left out, as short as it can be made: the pins, and where no new message follows, the latest request of
 * the user, else the newest turn. A strategy that shows all of its messages shortens all of them.
 */
export function leastHistory(strategy: ContextStrategy, input: HistoryInput): FittedHistory {
  const { conversation, dropped } = lean(input)
  const isShown = isInLeast(strategy, input)
  const leftOut = conversation.messages.filter((message) => !isShown(message))
  return laidOut(conversation, leftOut, input, dropped)
}

/** Tokens of {@link leastHistory}, without looking at what it leaves out. */
export function leastTokens(strategy: ContextStrategy, input: HistoryInput): number {
  const { conversation } = lean(input)
  const shown = conversation.messages.filter(isInLeast(strategy, input))
  return shown.length === 0 ? 0 : laidOut({ ...conversation, messages: shown }, [], input, 0).tokens
}

/** The same with the summary of the compaction in force, where there is room for it; it then covers what it stands for. */
export function leastWithSummary(strategy: ContextStrategy, input: HistoryInput): FittedHistory {
  const least = leastHistory(strategy, input)
  const { state, roomTokens } = input
  if (state?.summary == null || least.tokens + countSummary(state.summary, input) > roomTokens) return least
  const { conversation, dropped } = lean(input)
  const leftOut = least.history.absent.map(({ message }) => message).filter((message) => !isCovered(message, state))
  // What was pruned stands as it is here: only the summary is taken from the state.
  const fitted = laidOut(conversation, leftOut, input, dropped, { ...state, prunings: new Map() })
  return fitted.tokens <= roomTokens ? fitted : least
}

function lean({ conversation, isAnswered = false }: HistoryInput) {
  return dropOldReasoning(conversation, Number.POSITIVE_INFINITY, isAnswered)
}

function laidOut(
  conversation: Conversation,
  without: readonly Message[],
  input: HistoryInput,
  dropped: number,
  state: HistoryInput['state'] = null,
): FittedHistory {
  const leftOut = new Map(without.map(({ id }) => [id, CROWDED_OUT]))
  const shortened = conversation.messages.filter(({ id }) => !leftOut.has(id) && !conversation.keptRaw.has(id))
  const note = `${without.length} messages were left out: even shortened they do not fit the budget`
  const notes = [...reasoningNotes(dropped), ...(without.length > 0 ? [note] : [])]
  return layOut({ conversation, state, leftOut, caps: smallestCaps(shortened, input) }, input, notes)
}

/** Whether a context cannot do without a message. */
function isInLeast(
  strategy: ContextStrategy,
  { conversation, isAnswered }: HistoryInput,
): (message: Message) => boolean {
  if (!strategy.planCoverage && !strategy.leaveOut) return () => true
  const { messages, keptRaw, boundaries } = conversation
  if (isAnswered) return ({ id }) => keptRaw.has(id)
  const request = messages.findLast((message) => message.role === 'user')
  if (request) return ({ id }) => keptRaw.has(id) || id === request.id
  const turn = new Set(messages.slice(boundaries.slice(0, -1).lastIndexOf(true) + 1).map(({ id }) => id))
  return ({ id }) => keptRaw.has(id) || turn.has(id)
}
