import type { JsonObject } from './calls.js'

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
