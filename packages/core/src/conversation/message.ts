import type { Role, StoredPart, ThinkingBlock, ToolCall } from '@heddle/contracts'

/**
 * A stored message as the rules see it. Immutable: pruning and summarizing are projections beside it.
 */
export interface Message {
  readonly id: string
  /** Position in the order of storing, from 1, without gaps in its thread: for cursors and change detection. */
  readonly seq: number
  /** Short code of the id, unique in its thread; references contain it. */
  readonly code: string
  readonly role: Role
  readonly content: string
  /** Images, documents and sounds, by their positions in the content; absent without such parts. */
  readonly parts?: readonly StoredPart[]
  readonly thinking: readonly ThinkingBlock[]
  readonly toolCalls: readonly ToolCall[]
  readonly toolCallId: string | null
  readonly toolName: string | null
  readonly isError: boolean
  /** Position in the conversation: milliseconds since 1970, then `ordinal`, then `id`. */
  readonly orderedAtMs: number
  readonly ordinal: number
  readonly model: string | null
  readonly usage: Readonly<Record<string, unknown>> | null
  readonly pinned: boolean
  /** Its pruning was undone: it is included verbatim if it fits. Unlike a pinned message, it may be compacted again. */
  readonly undone?: boolean
  readonly keptAside: string | null
  /** The working directory of its session at that time, if its metadata has one. */
  readonly cwd?: string | null
  /** The context that this reply answered. */
  readonly contextId: string | null
  /**
   * Tokens of all parts of the message that are sent, by the o200k counter (see `countMessageTokens`), or an estimate
   * of them.
   */
  readonly tokens: number
  /** The part of `tokens` for its reasoning, signatures included. Formats without reasoning do not send it. */
  readonly reasoningTokens: number
  /** Whether `tokens` was counted exactly. Decisions use only exact counts, so that they never depend on timing. */
  readonly tokensExact: boolean
  /** Of a marker that a restore left: the restored message, whose content is shown at the marker's position. */
  readonly restores?: RestoredMessage
  /** In a conversation of several threads: the message's identity in its own thread. */
  readonly origin?: MessageOrigin
}

export interface RestoredMessage {
  readonly id: string
  readonly seq: number
  readonly orderedAtMs: number
}

export interface MessageOrigin {
  /** The name of its thread. */
  readonly thread: string
  readonly id: string
  readonly seq: number
  /** Resolves to it from anywhere in the project. */
  readonly reference: string
  /** For a summary, the number and tokens of the messages it replaces; null for a message. */
  readonly standsFor: { readonly count: number; readonly tokens: number } | null
}

/** A position in a conversation; see {@link comparePositions}. */
export interface Position {
  readonly orderedAtMs: number
  readonly ordinal: number
  readonly id: string
}
