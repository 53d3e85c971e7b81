import type { StoredPart, ThinkingBlock, ToolCall } from '@heddle/contracts'

/**
 * A message for a model, before it is rendered for a provider. A list of them is well formed when every assistant
 * message with calls is followed at once by one `tool_result` per call, in the order of the calls, when no call id
 * occurs twice, and when there is no other `tool_result`; see `checkWellFormed`.
 */
export interface NeutralMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool_result'
  readonly content: string
  /** Parts of a user's message or of a result. */
  readonly parts?: readonly NeutralPart[]
  readonly thinking?: readonly ThinkingBlock[]
  readonly toolCalls?: readonly ToolCall[]
  readonly toolCallId?: string
  readonly toolName?: string
  readonly isError?: boolean
}

/** A part in a message for a model. */
export interface NeutralPart extends StoredPart {
  /** The reference under which its bytes can be recalled. */
  readonly reference: string
}
