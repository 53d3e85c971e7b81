import type { OpenAiChatEntry, OpenAiResponsesEntry } from './openai-entries.js'
import type { OtherPart, Parts, TextPart } from './part-types.js'

/*
 * Inputs and outputs of providers' packages, as far as they are read: structural types that accept the packages' own,
 * so that no package needs to be installed. Parts and items of other kinds are kept unchanged.
 */

interface AnthropicCall {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: unknown
}

interface AnthropicResult {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content?: Parts | undefined
  readonly is_error?: boolean | undefined
}

type AnthropicReasoning =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

type AnthropicBlock = TextPart | AnthropicCall | AnthropicResult | AnthropicReasoning | OtherPart

/** A `MessageParam`, or a whole `Message`. */
export interface AnthropicEntry {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: string | readonly AnthropicBlock[]
  readonly id?: string | undefined
  readonly type?: 'message' | undefined
  readonly model?: string | undefined
  readonly usage?: object | undefined
}

interface AiSdkCall {
  readonly type: 'tool-call'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

interface AiSdkResult {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly toolName: string
  readonly output: { readonly type: string; readonly value?: unknown }
}

interface AiSdkReasoning {
  readonly type: 'reasoning'
  readonly text: string
  readonly providerOptions?: object | undefined
}

/** A `ModelMessage`. */
export type AiSdkMessageEntry =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: Parts }
  | {
      readonly role: 'assistant'
      readonly content: string | readonly (TextPart | AiSdkCall | AiSdkResult | AiSdkReasoning | OtherPart)[]
    }
  | { readonly role: 'tool'; readonly content: readonly (AiSdkResult | OtherPart)[] }

interface AiSdkResponse {
  readonly id: string
  readonly modelId: string
  readonly messages: readonly AiSdkMessageEntry[]
}

/** A `ModelMessage`, the result of `generateText` or of one of its steps, or the `response` of either. */
export type AiSdkEntry =
  | AiSdkMessageEntry
  | AiSdkResponse
  | {
      readonly response: AiSdkResponse
      readonly usage?: object | undefined
      readonly providerMetadata?: object | undefined
    }

/** The entries of an append in each provider's format. */
export interface FormEntries {
  'openai-chat': OpenAiChatEntry
  'openai-responses': OpenAiResponsesEntry
  anthropic: AnthropicEntry
  'ai-sdk': AiSdkEntry
}
