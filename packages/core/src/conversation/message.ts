import type { Role, StoredPart, ThinkingBlock, ToolCall } from '@heddle/contracts'

/**
 * A stored message as the rules see it. Immutable: pruning and summarizing are projections beside it.
 */
export interface Message {
  readonly id: string
  /** Place in the order of storing, from 1, without gaps in its thread: for cursors and change detection. */
  readonly seq: number
  /** Short code of the id, unique in its thread: what references show. */
  readonly code: string
  readonly role: Role
  readonly content: string
  /** Images, documents and sounds, by the places that they have in the content; missing where there are none. */
  readonly parts?: readonly StoredPart[]
  readonly thinking: readonly ThinkingBlock[]
  readonly toolCalls: readonly ToolCall[]
  readonly toolCallId: string | null
  readonly toolName: string | null
  readonly isError: boolean
  /** Place in the conversation: milliseconds since 1970, then `ordinal`, then `id`. */
  readonly orderedAtMs: number
  readonly ordinal: number
  readonly model: string | null
  readonly usage: Readonly<Record<string, unknown>> | null
  readonly pinned: boolean
  /** Its pruning was undone: it stands verbatim where it fits, and compactions leave it alone as they do a pin. */
  readonly undone?: boolean
  readonly keptAside: string | null
  /** The working directory of its session at that time, where its metadata tells. */
  readonly cwd?: string | null
  /** The context that this reply answered. */
  readonly contextId: string | null
  /** Tokens of all that is sent of the message, by the o200k counter (see `countMessageTokens`), or an estimate of them. */
  readonly tokens: number
  /** The part of `tokens` that its reasoning takes, signatures included. Formats that carry no reasoning do not send it. */
  readonly reasoningTokens: number
  /** Whether `tokens` was counted. Decisions are made on counted messages only, so that they never depend on timing. */
  readonly tokensExact: boolean
  /** Of a mark that a restore left: the message that it brings back, whose content it shows at its own place. */
  readonly restores?: RestoredMessage
  /** Of a message that stands in a conversation of several threads: what it is in its own. */
  readonly origin?: MessageOrigin
}

/** The message that a restore brought back, where it stands itself. */
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
  /** Leads to it from anywhere in the project. */
  readonly reference: string
  /** Messages that it is the summary of, and their tokens; null for a message. */
  readonly standsFor: { readonly count: number; readonly tokens: number } | null
}

/** A position in a conversation; see {@link comparePositions}. */
export interface Position {
  readonly orderedAtMs: number
  readonly ordinal: number
  readonly id: string
}
