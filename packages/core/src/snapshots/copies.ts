import type { JsonObject, MessageInput, SnapshotMessage } from '@heddle/contracts'
import { v5 } from 'uuid'

/*
 * A message is immutable and stored once. So a snapshot is restored as markers: rows with a position of their own in
 * the conversation and without content, which point at the restored messages. Only a message that the thread no longer
 * has is restored as a copy, since only the snapshot has its content.
 */

/** The metadata key of a marker, or a copy, that identifies the restored message. */
export const RESTORED_KEY = 'restored'

/** Metadata of a marker or a copy. */
export interface RestoredMark {
  /** The snapshot that it was restored from. */
  readonly snapshot: string
  /** The original message. */
  readonly message: string
  /** When the original was sent, ISO 8601. */
  readonly timestamp: string
}

/** The original of a copy, through any chain of copies, and its time; a message that is no copy is its own original. */
export function originalOf({ id, timestamp, metadata }: Pick<SnapshotMessage, 'id' | 'timestamp' | 'metadata'>): {
  readonly id: string
  readonly timestamp: string
} {
  const mark = metadata?.[RESTORED_KEY]
  if (mark === null || typeof mark !== 'object' || Array.isArray(mark)) return { id, timestamp }
  const { message, timestamp: at } = mark as Readonly<Record<string, unknown>>
  return isId(message) && typeof at === 'string' ? { id: message, timestamp: at } : { id, timestamp }
}

/** The snapshot from which a marker was restored; null if its metadata does not name one. */
export function snapshotOfMark(metadata: Readonly<Record<string, unknown>> | null): string | null {
  const mark = metadata?.[RESTORED_KEY]
  if (mark === null || typeof mark !== 'object' || !('snapshot' in mark)) return null
  return isId(mark.snapshot) ? mark.snapshot : null
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
}

/** The id of the marker at a sequence number. */
export function markId(threadId: string, originalId: string, seq: number): string {
  return v5(`restored ${originalId} at ${seq}`, threadId)
}

/**
 * The id of the copy of a message that the thread does not have. Concurrent restores, or one repeated after a crash,
 * derive the same id; later ones find the copy, and mark it like any other message.
 */
export function copyId(threadId: string, originalId: string): string {
  return v5(`restored ${originalId} 0`, threadId)
}

/** The copy of a message, as it is appended. It has no time of its own: its position is where it is restored. */
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
 * The missing messages of one thread, plus the calls and results that belong to them: a provider accepts a call and its
 * results together or not at all.
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
