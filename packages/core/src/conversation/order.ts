import type { Message, Position } from './message.js'

/** The order of a conversation: by time, then by place within its append, then by id, so that ties never move. */
export function comparePositions(left: Position, right: Position): number {
  return (
    left.orderedAtMs - right.orderedAtMs ||
    left.ordinal - right.ordinal ||
    (left.id < right.id ? -1 : left.id > right.id ? 1 : 0)
  )
}

export function positionOf(message: Message): Position {
  return { orderedAtMs: message.orderedAtMs, ordinal: message.ordinal, id: message.id }
}

/** Messages in conversation order, whatever order they were stored in. */
export function inConversationOrder(messages: readonly Message[]): Message[] {
  return [...messages].sort(comparePositions)
}

/**
 * The places in time that an append proposes for its messages: each its own `sentAt`, or that of the one before it, and
 * never earlier than one before it. A message without a time takes `startedAtMs`, when the append began.
 *
 * @param latestMs the place of the message before them, where they are a part of something longer
 */
export function proposePlaces(
  sentAtMs: readonly (number | null)[],
  startedAtMs: number,
  latestMs = Number.NEGATIVE_INFINITY,
): number[] {
  let latest = latestMs
  return sentAtMs.map((sentAt) => {
    const own = sentAt ?? (latest === Number.NEGATIVE_INFINITY ? startedAtMs : latest)
    latest = Math.max(latest, own)
    return latest
  })
}

/** How far past its receipt a message may claim to have been sent; clocks that run fast are held to it. */
export const CLOCK_LEAD_MS_MAX = 5_000

export function boundPlace(proposedMs: number, receivedAtMs: number): number {
  return Math.min(proposedMs, receivedAtMs + CLOCK_LEAD_MS_MAX)
}
