import type { JsonObject, MessageInput } from '@heddle/contracts'
import { v5 } from 'uuid'
import type { SnapshotMessage } from './file.js'

/*
 * A message is never changed, and is stored once. So a snapshot comes back as marks: rows with a place of their own in the
 * conversation, and no content, that point at the messages which they bring back. Only a message that the thread does not
 * hold any more comes back as a copy, since its content stands in the snapshot alone.
 */

/** The key in the metadata of a mark, or a copy, that says what it brings back. */
export const RESTORED_KEY = 'restored'

/** What a mark, or a copy, says of itself. */
export interface RestoredMark {
  /** The snapshot from which it came back. */
  readonly snapshot: string
  /** The message that was first. */
  readonly message: string
  /** When that one was sent, ISO 8601. */
  readonly timestamp: string
}

/** The message of which this one is, at last, a copy, and its time: itself where it is none. */
export function originalOf({ id, timestamp, metadata }: Pick<SnapshotMessage, 'id' | 'timestamp' | 'metadata'>): {
  readonly id: string
  readonly timestamp: string
} {
  const mark = metadata?.[RESTORED_KEY]
  if (mark === null || typeof mark !== 'object' || Array.isArray(mark)) return { id, timestamp }
  const { message, timestamp: at } = mark as Readonly<Record<string, unknown>>
  return isId(message) && typeof at === 'string' ? { id: message, timestamp: at } : { id, timestamp }
}

/** The snapshot from which a mark was restored; null where its metadata does not say so. */
export function snapshotOfMark(metadata: Readonly<Record<string, unknown>> | null): string | null {
  const mark = metadata?.[RESTORED_KEY]
  if (mark === null || typeof mark !== 'object' || !('snapshot' in mark)) return null
  return isId(mark.snapshot) ? mark.snapshot : null
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
}

/** The id of the mark that stands at a place of the order of storing. */
export function markId(threadId: string, originalId: string, seq: number): string {
  return v5(`restored ${originalId} at ${seq}`, threadId)
}

/**
 * The id of the copy that stands in for a message which the thread does not hold. Two restores at once, or one that is
 * repeated after a crash, agree on it; later ones find the copy, and mark it as they do any message.
 */
export function copyId(threadId: string, originalId: string): string {
  return v5(`restored ${originalId} 0`, threadId)
}

/** The copy of a message, as it is appended. It has no time of its own: it takes its place where it is restored. */
export function copyOf(message: SnapshotMessage, { id, snapshotId }: { id: string; snapshotId: string }): MessageInput {
  const original = originalOf(message)
  const mark = { snapshot: snapshotId, message: original.id, timestamp: original.timestamp } satisfies RestoredMark
  return {
    id,
    role: message.role,
    content: message.content,
    ...(message.source_id !== undefined && { sourceId: message.source_id }),
    ...(message.thinking !== undefined && { thinking: [...message.thinking] }),
    ...(message.tool_calls !== undefined && { toolCalls: [...message.tool_calls] }),
    ...(message.tool_call_id !== undefined && { toolCallId: message.tool_call_id }),
    ...(message.tool_name !== undefined && { toolName: message.tool_name }),
    ...(message.is_error !== undefined && { isError: message.is_error }),
    ...(message.model !== undefined && { model: message.model }),
    ...(message.pinned !== undefined && { pinned: message.pinned }),
    metadata: { ...message.metadata, [RESTORED_KEY]: { ...mark } } as JsonObject,
  }
}

/**
 * Those messages of one thread that are missing, with the calls and results that belong to them: a provider takes a call
 * and its results together or not at all.
 *
 * @param messages in conversation order
 */
export function withTheirPairs(
  messages: readonly SnapshotMessage[],
  isMissing: (message: SnapshotMessage) => boolean,
): SnapshotMessage[] {
  const callers = new Map<string, string>()
  const groups = messages.map((message) => {
    for (const call of message.tool_calls ?? []) callers.set(call.id, message.id)
    return message.tool_call_id === undefined ? message.id : (callers.get(message.tool_call_id) ?? message.id)
  })
  const missing = new Set(groups.filter((_, index) => messages[index] && isMissing(messages[index])))
  return messages.filter((_, index) => missing.has(groups[index] ?? ''))
}
