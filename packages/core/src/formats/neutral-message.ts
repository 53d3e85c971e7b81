import type { StoredPart, ThinkingBlock, ToolCall } from '@heddle/contracts'

/**
 * A message on its way to a model, before it takes a provider's form. A list of them is well formed when every assistant
 * message with calls is followed at once by one `tool_result` per call, in the order of the calls, when no call id occurs
 * twice, and when no other `tool_result` stands in it; see `checkWellFormed`.
 */
export interface NeutralMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool_result'
  readonly content: string
  /** Of a user's message and of a result. */
  readonly parts?: readonly NeutralPart[]
  readonly thinking?: readonly ThinkingBlock[]
  readonly toolCalls?: readonly ToolCall[]
  readonly toolCallId?: string
  readonly toolName?: string
  readonly isError?: boolean
}

/** A part on its way to a model. */
export interface NeutralPart extends StoredPart {
  /** Under which its bytes can be recalled. */
  readonly reference: string
}
