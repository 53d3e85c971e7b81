import type { Role, ThinkingBlock, ToolCall } from '../messages/messages.js'
import type { JsonObject } from '../primitives/json.js'

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
