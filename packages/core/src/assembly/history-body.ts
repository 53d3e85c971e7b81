import type { Lane } from '../compaction/lane.js'
import { type Conversation, conversationOf } from '../conversation/conversation.js'
import { sentMessages } from '../delivery/reasoning.js'
import { countNeutralMessage } from '../formats/index.js'
import { messagesOf, noMessages } from '../strategies/define.js'
import type { ContextStrategy, FittedHistory, TooSmall } from '../strategies/strategy.js'
import { EXTRACTIVE } from '../summarizing/summarize.js'
import type { Body, BodyPlan } from './body.js'
import { countingOf } from './frame.js'
import { emptyByWindow, windowNotes } from './hidden-messages.js'
import type { BuildInput } from './input.js'
import { historyEntries } from './receipt.js'
import { fixedSections } from './sections.js'

/**
 * The body of a conversation's context: its history, shortened by the strategy of the lane.
 *
 * @throws PermanentError `VALIDATION_ERROR` without a message to show
 */
export function planHistory(input: BuildInput, lane: Lane<ContextStrategy>): BodyPlan {
  const conversation = conversationOf(sentMessages(input.format, input.messages))
  const isEmpty =
    conversation.messages.length === 0 && (isBounded(input) || input.unloaded.every(({ count }) => count === 0))
  if (isEmpty && input.request.message === undefined) throw refuseEmpty(input)
  return {
    fixedSections: fixedSections(input),
    sections: ['history'],
    isStable: true,
    facts: input.fill === undefined ? {} : { fill: input.fill },
    hiddenNotes: windowNotes(input),
    fit: (roomTokens) => {
      const fitted = fitHistory(input, conversation, lane, roomTokens)
      return 'neededTokens' in fitted ? fitted : bodyOf(fitted, input)
    },
  }
}

function refuseEmpty(input: BuildInput): Error {
  const hidden = emptyByWindow(input)
  if (hidden !== null) return noMessages(hidden.hint, hidden.why)
  return noMessages(input.imported > 0 ? NONE_SHOWN : undefined)
}

const NONE_SHOWN =
  'all messages of the thread are before its last clear, or outside its rolling window or the scope: widen those, restore a snapshot, or give the request a message'

/**
 * With a scope and no summary, messages that were not loaded are outside the scope, so they do not count as content.
 */
function isBounded({ scope, state }: BuildInput): boolean {
  return scope !== undefined && state?.summary == null
}

/**
 * A history whose smallest form exceeds its allocation gets as much as that form takes; otherwise no budget would be
 * enough.
 */
function fitHistory(
  input: BuildInput,
  conversation: Conversation,
  lane: Lane<ContextStrategy>,
  roomTokens: number,
): FittedHistory | TooSmall {
  const { state, headSeq, reference, scope, settings } = input
  const allocation = settings.sections.allocations.history ?? roomTokens
  const isStateCurtailed = scope?.since != null && state !== null && state.summary === null
  const isAnswered = input.request.message !== undefined
  const fill = input.fill ?? 'cache'
  const hasUnloadedCovered = input.unloaded.some(({ mode, count }) => mode === 'covered' && count > 0)
  const given = {
    ...{ conversation, state, isStateCurtailed, lane, headSeq, reference, fill, isAnswered, hasUnloadedCovered },
    isLaneKept: input.isLaneKept ?? true,
    ...countingOf(input),
  }
  const fitInto = (tokens: number) => lane.strategy.fitHistory({ ...given, roomTokens: Math.min(roomTokens, tokens) })
  const fitted = fitInto(allocation)
  if (!('neededTokens' in fitted) || allocation >= roomTokens) return fitted
  const smallest = fitInto(fitted.neededTokens)
  const larger = 'neededTokens' in smallest ? fitInto(roomTokens) : smallest
  if ('neededTokens' in larger) return larger
  const note = `the history takes more than the ${allocation} tokens allocated to it: its smallest form is larger`
  return { ...larger, notes: [...larger.notes, note] }
}

function bodyOf(fitted: FittedHistory, input: BuildInput): Body {
  const { history, state, isSummaryPublished, summary, tokens, notes } = fitted
  const summaryPart = summary ? { tokens: countNeutralMessage(input.format, summary, input.count) } : null
  return {
    messages: messagesOf(fitted),
    tokens,
    summaryUsed: summary !== null,
    entries: historyEntries(fitted, summaryPart, input, countingOf(input)),
    shown: new Set(history.lines.flatMap(({ sources }) => sources.map(({ message }) => message.id))),
    stateId: state === input.state || isSummaryPublished ? input.stateId : null,
    summarizer: summary === null ? undefined : isSummaryPublished ? input.summarizer : EXTRACTIVE,
    notes,
  }
}
