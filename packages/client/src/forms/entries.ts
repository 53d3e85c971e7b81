/*
 * What providers' packages give and take, as far as it is read: structural types, to which the packages' own can be given,
 * so that nobody needs to install a package for them. Parts and items of kinds that are not named here are kept as they are.
 */

interface OtherPart {
  readonly type: string
}

interface TextPart {
  readonly type: 'text' | 'input_text' | 'output_text'
  readonly text: string
}

interface RefusalPart {
  readonly type: 'refusal'
  readonly refusal: string
}

type Parts = string | readonly (TextPart | RefusalPart | OtherPart)[]

interface FunctionCall {
  readonly name: string
  readonly arguments: string
}

interface OpenAiChatCall {
  readonly id: string
  readonly type: string
  readonly function?: FunctionCall | undefined
  readonly custom?: { readonly name: string; readonly input: string } | undefined
}

export interface OpenAiChatAnswer {
  readonly role: 'assistant'
  /** Tells it from an answer of Anthropic, which has one. */
  readonly type?: never
  readonly content?: Parts | null | undefined
  readonly refusal?: string | null | undefined
  readonly tool_calls?: readonly OpenAiChatCall[] | null | undefined
  readonly function_call?: FunctionCall | null | undefined
  /** The reasoning of servers that show it. */
  readonly reasoning_content?: string | null | undefined
  readonly name?: string | undefined
}

/** A `ChatCompletion`. */
export interface OpenAiChatCompletion {
  readonly id: string
  readonly model: string
  readonly choices: readonly { readonly message: OpenAiChatAnswer }[]
  readonly usage?: object | null | undefined
}

/** A `ChatCompletionMessageParam`, a `ChatCompletionMessage`, or a whole `ChatCompletion`. */
export type OpenAiChatEntry =
  | {
      readonly role: 'system' | 'developer' | 'user'
      readonly content: Parts
      readonly name?: string | undefined
    }
  | OpenAiChatAnswer
  | { readonly role: 'tool'; readonly content: Parts; readonly tool_call_id: string }
  | { readonly role: 'function'; readonly content: string | null; readonly name: string }
  | OpenAiChatCompletion

interface OpenAiItemMessage {
  readonly type?: 'message' | undefined
  readonly role: 'user' | 'assistant' | 'system' | 'developer'
  readonly content: Parts
  readonly id?: string | undefined
}

interface OpenAiItemCall {
  readonly type: 'function_call'
  readonly call_id: string
  readonly name: string
  readonly arguments: string
  readonly id?: string | undefined
}

interface OpenAiItemOutput {
  readonly type: 'function_call_output'
  readonly call_id: string
  readonly output: Parts
  readonly id?: string | null | undefined
}

interface OpenAiItemReasoning {
  readonly type: 'reasoning'
  readonly id: string
  readonly summary: readonly { readonly text: string }[]
  readonly content?: readonly { readonly text: string }[] | null | undefined
  readonly encrypted_content?: string | null | undefined
}

/** Of a kind that is kept as it is. */
interface OpenAiOtherItem {
  readonly type: string
  readonly role?: string | undefined
}

/** Refused, since what it leads to is on the provider's server; the package's list of items names it. */
interface OpenAiItemReference {
  readonly type?: 'item_reference' | null | undefined
  readonly id: string
}

/** A `ResponseInputItem`, a `ResponseOutputItem`, or a whole `Response`. */
export type OpenAiResponsesEntry =
  | OpenAiItemMessage
  | OpenAiItemCall
  | OpenAiItemOutput
  | OpenAiItemReasoning
  | OpenAiOtherItem
  | OpenAiItemReference
  | {
      readonly object: 'response'
      readonly id: string
      readonly model: string
      readonly output: readonly { readonly type: string }[]
      readonly usage?: object | null | undefined
    }

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

/** A `ModelMessage`, the result of `generateText` or of a step of it, or the `response` of either. */
export type AiSdkEntry =
  | AiSdkMessageEntry
  | AiSdkResponse
  | {
      readonly response: AiSdkResponse
      readonly usage?: object | undefined
      readonly providerMetadata?: object | undefined
    }

/** What an append takes in each form but Heddle's own. */
export interface FormEntries {
  'openai-chat': OpenAiChatEntry
  'openai-responses': OpenAiResponsesEntry
  anthropic: AnthropicEntry
  'ai-sdk': AiSdkEntry
}
