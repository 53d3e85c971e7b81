import type { JsonObject, MessageInput } from '@heddle/contracts'
import { v5 } from 'uuid'
import type { SnapshotMessage } from './file.js'

/*
 * A message is never changed, so a snapshot comes back as copies. A copy carries a mark with the original's id and time; its
 * own id is derived from the original's, so that two restores that run at once, or one that is repeated after a crash,
 * agree on it.
 */

/** The key of the mark in the metadata of a copy. */
export const RESTORED_KEY = 'restored'

/** What the mark of a copy says. */
export interface RestoredMark {
  /** The snapshot that it came back from. */
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

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
}

/** The id of a copy; each time that all copies before it have left the window, one more can be made. */
export function copyId(threadId: string, originalId: string, generation: number): string {
  return v5(`restored ${originalId} ${generation}`, threadId)
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
