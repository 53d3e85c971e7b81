import type { Parts } from './part-types.js'

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
  /** Distinguishes it from an answer of Anthropic, which has a type. */
  readonly type?: never
  readonly content?: Parts | null | undefined
  readonly refusal?: string | null | undefined
  readonly tool_calls?: readonly OpenAiChatCall[] | null | undefined
  readonly function_call?: FunctionCall | null | undefined
  /** Reasoning, from servers that expose it. */
  readonly reasoning_content?: string | null | undefined
  readonly name?: string | undefined
}

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

/** Of a kind that is kept unchanged. */
interface OpenAiOtherItem {
  readonly type: string
  readonly role?: string | undefined
}

/** Refused, since it refers to an item on the provider's server; part of the package's list of items. */
interface OpenAiItemReference {
  readonly type?: 'item_reference' | null | undefined
  readonly id: string
}

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
