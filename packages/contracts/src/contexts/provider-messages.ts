import type { JsonObject } from '../primitives/json.js'

/* Types of provider packages that occur in contexts. */

type CacheMark = { cache_control?: { type: 'ephemeral' } }

export type AnthropicText = { type: 'text'; text: string } & CacheMark

export type AnthropicImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

export type AnthropicMedia = (
  | {
      type: 'image'
      source: { type: 'base64'; media_type: AnthropicImageType; data: string } | { type: 'url'; url: string }
    }
  | {
      type: 'document'
      source: { type: 'base64'; media_type: 'application/pdf'; data: string } | { type: 'url'; url: string }
      title?: string
    }
) &
  CacheMark

export type AnthropicBlock =
  | AnthropicText
  | AnthropicMedia
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | ({ type: 'tool_use'; id: string; name: string; input: JsonObject } & CacheMark)
  | ({
      type: 'tool_result'
      tool_use_id: string
      content?: string | (AnthropicText | AnthropicMedia)[]
      is_error?: true
    } & CacheMark)

export type AnthropicMessage = { role: 'user' | 'assistant'; content: AnthropicBlock[] }

export type OpenAiToolCall = { id: string; type: 'function'; function: { name: string; arguments: string } }

export type OpenAiChatPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string; detail?: 'auto' | 'low' | 'high' } }
  | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } }
  | { type: 'file'; file: { file_data: string; filename: string } | { file_id: string } }

export type OpenAiChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | OpenAiChatPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: OpenAiToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string }

export type OpenAiResponsesPart =
  | { type: 'input_text'; text: string }
  | ({ type: 'input_image'; detail: 'auto' | 'low' | 'high' | 'original' } & (
      | { image_url: string }
      | { file_id: string }
    ))
  | ({ type: 'input_file' } & ({ file_data: string; filename: string } | { file_url: string } | { file_id: string }))

export type OpenAiResponsesItem =
  | { type: 'message'; role: 'system' | 'assistant'; content: string }
  | { type: 'message'; role: 'user'; content: string | OpenAiResponsesPart[] }
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string | OpenAiResponsesPart[] }

type Signed = { anthropic: { signature: string } | { redactedData: string } }

export type AiSdkAssistantPart =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string; providerOptions: Signed }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: JsonObject }

export type AiSdkUserPart =
  | { type: 'text'; text: string }
  | { type: 'image'; image: string; mediaType?: string }
  | { type: 'file'; data: string; mediaType: string; filename?: string }

export type AiSdkResultPart = {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output:
    | { type: 'text' | 'error-text'; value: string }
    | {
        type: 'content'
        value: ({ type: 'text'; text: string } | { type: 'media'; data: string; mediaType: string })[]
      }
}

export type AiSdkMessage =
  | { role: 'user'; content: string | AiSdkUserPart[] }
  | { role: 'assistant'; content: AiSdkAssistantPart[] }
  | { role: 'tool'; content: AiSdkResultPart[] }
