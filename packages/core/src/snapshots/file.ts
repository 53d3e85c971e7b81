import type { JsonObject, Role, ThinkingBlock, ToolCall } from '@heddle/contracts'

/** A message of a snapshot, with the thread that it is of. */
export interface SnapshotMessage {
  readonly id: string
  readonly thread_id: string
  readonly role: Role
  readonly content: string
  readonly tool_calls?: readonly ToolCall[]
  readonly tool_call_id?: string
  /** When it was sent, ISO 8601. */
  readonly timestamp: string
  /** What else a message needs to be the same when it comes back. */
  readonly thinking?: readonly ThinkingBlock[]
  readonly tool_name?: string
  readonly is_error?: boolean
  readonly model?: string
  readonly pinned?: boolean
  readonly source_id?: string
  readonly metadata?: JsonObject
}

/** A saved window of all threads of an agent, as its file has it (docs/snapshots.md#saving). */
export interface SnapshotFile {
  readonly session_id: string
  readonly timestamp: string
  readonly description: string | null
  readonly summary: string
  readonly message_count: number
  /** Null where the window shows all. */
  readonly window_start: string | null
  readonly window_end: string
  readonly messages: readonly SnapshotMessage[]
}

/** Stands where a summary would be, had the summarizer not failed (docs/snapshots.md). */
export const SUMMARY_FAILED = '(summary generation failed)'

/** Stands where a summary was that told of a thread which was erased. */
export const SUMMARY_ERASED = '(the summary was removed with a thread that was erased)'

export function threadsOfSnapshot({ messages }: SnapshotFile): string[] {
  return [...new Set(messages.map(({ thread_id }) => thread_id))]
}

/**
 * A snapshot without what it holds of one thread. The summary was written from all threads together, so nobody can say which
 * of its words tell of this one: it goes as a whole. A snapshot that does not hold the thread is returned as it is.
 */
export function withoutThread(snapshot: SnapshotFile, threadId: string): SnapshotFile {
  const messages = snapshot.messages.filter(({ thread_id }) => thread_id !== threadId)
  if (messages.length === snapshot.messages.length) return snapshot
  return { ...snapshot, summary: SUMMARY_ERASED, message_count: messages.length, messages }
}
