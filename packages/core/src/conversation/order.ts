import type { Message, Position } from './message.js'

/**
 * The order of a conversation: by time, then by ordinal, then by id, so that ties are stable. Three parts of Heddle share this rule:
 *
 * - The sender proposes times with {@link proposePlaces} and numbers its messages: `messages/messages.ts` and
 *   `messages/ordinals.ts` of the engine. Within an append the ordinal counts from 0. It counts on from the previous append of
 *   the same client to the thread if the append begins no later than the latest time of the client's appends before it.
 * - The commit of an append limits the proposed times with {@link boundPlace}, by the clock of the database: `messages/append-plan.ts`
 *   of the store.
 * - The store reads by `order by ordered_at, ordinal, id`, which the index `messages_order` serves.
 */
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
 * The times that an append proposes for its messages: each message's own `sentAt`, or the previous message's, and never
 * earlier than the previous one. A message without a time takes `startedAtMs`, when the append began.
 *
 * @param latestMs the time of the message before them, if they continue something longer
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

/** Maximum lead of a message's `sentAt` over its receipt; times of fast clocks are limited to it. */
export const CLOCK_LEAD_MS_MAX = 5_000

export function boundPlace(proposedMs: number, receivedAtMs: number): number {
  return Math.min(proposedMs, receivedAtMs + CLOCK_LEAD_MS_MAX)
}
