import { ineligibleReason } from './eligibility.js'
import type { Message, Position } from './message.js'
import { comparePositions, inConversationOrder } from './order.js'
import { isAssistantSide } from './turns.js'

export interface TurnMessages {
  /** Messages of one thread, without gaps after the position `after`; in any order. */
  readonly messages: readonly Message[]
  /** Where a gap in them ends, such as the end of what a summary covers; null without a gap. */
  readonly after: Position | null
  /** Replies before those messages; counted only if none of the messages is from the user. Default 0. */
  readonly before?: number | undefined
}

/**
 * Replies of the model since the latest message of the user. Consecutive messages of the assistant are one reply, as parallel
 * calls are.
 */
export function turnsTaken({ messages, after, before = 0 }: TurnMessages): number {
  const latest = latestOfUser(messages, after)
  const since = messagesAfter(messages, latest ?? after)
  const replies = since.filter((message, at) => {
    const previous = since[at - 1]
    return isAssistantSide(message) && !(previous && isAssistantSide(previous))
  })
  return replies.length + (latest === null ? before : 0)
}

/** The user's latest message after a position. A restored message does not count: it was answered before. */
export function latestOfUser(messages: readonly Message[], after: Position | null): Message | null {
  let latest: Message | null = null
  for (const message of messages) {
    if (message.role !== 'user' || message.restores !== undefined || ineligibleReason(message) !== null) continue
    if (after !== null && comparePositions(message, after) <= 0) continue
    if (latest === null || comparePositions(message, latest) > 0) latest = message
  }
  return latest
}

/** The eligible messages after a position, in order. */
export function messagesAfter(messages: readonly Message[], after: Position | null): Message[] {
  const later = messages.filter((message) => after === null || comparePositions(message, after) > 0)
  return inConversationOrder(later.filter((message) => ineligibleReason(message) === null))
}
