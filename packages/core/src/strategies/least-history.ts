import { isCovered } from '../compaction/state.js'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { dropOldReasoning } from '../delivery/reasoning.js'
import { smallestCaps } from '../history/fit.js'
import { CROWDED_OUT } from './crowd-out.js'
import { countSummary, layOut, messagesWere, reasoningNotes } from './lay-out.js'
import type { ContextStrategy, FittedHistory, HistoryInput } from './strategy.js'

/**
 * The smallest form of a history, which does not depend on the budget: a budget that fits it works, and so does every
 * larger one. It has only messages that must not be left out, as short as possible: the pinned ones, and without a new
 * message the user's latest request, else the newest turn. A strategy that shows all of its messages shortens all of
 * them.
 */
export function leastHistory(strategy: ContextStrategy, input: HistoryInput): FittedHistory {
  const { conversation, dropped } = lean(input)
  const isShown = isInLeast(strategy, input)
  const leftOut = conversation.messages.filter((message) => !isShown(message))
  return laidOut(conversation, leftOut, input, dropped)
}

/** Tokens of {@link leastHistory}, without visiting the messages that it leaves out. */
export function leastTokens(strategy: ContextStrategy, input: HistoryInput): number {
  const { conversation } = lean(input)
  const shown = conversation.messages.filter(isInLeast(strategy, input))
  return shown.length === 0 ? 0 : laidOut({ ...conversation, messages: shown }, [], input, 0).tokens
}

/** The same with the summary of the compaction in force, if it fits, which then accounts for the messages it covers. */
export function leastWithSummary(strategy: ContextStrategy, input: HistoryInput): FittedHistory {
  const least = leastHistory(strategy, input)
  const { state, roomTokens } = input
  if (state?.summary == null || least.tokens + countSummary(state.summary, input) > roomTokens) return least
  const { conversation, dropped } = lean(input)
  const leftOut = least.history.absent.map(({ message }) => message).filter((message) => !isCovered(message, state))
  // Pruned messages are verbatim here: only the summary is used from the state.
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
  const note = `${messagesWere(without.length)} left out: too long for the budget even when shortened`
  const notes = [...reasoningNotes(dropped), ...(without.length > 0 ? [note] : [])]
  return layOut({ conversation, state, leftOut, caps: smallestCaps(shortened, input) }, input, notes)
}

/** Whether a context must include a message. */
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
