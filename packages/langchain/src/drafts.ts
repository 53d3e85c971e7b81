import type { Json, JsonObject, MessageDraft } from '@heddle/client/forms'
import { flattenContent, isJsonObject, textField } from '@heddle/client/forms'
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { usageOf } from './usage.js'

/** Blocks of a content that repeat the calls of their message. */
const CALL_BLOCKS = new Set(['tool_use', 'tool_call', 'function_call', 'input_json_delta', 'tool_call_chunk'])

/**
 * A message of LangChain in Heddle's own format; null for those that are not a part of a conversation, such as the summary
 * that a summarization middleware writes over older messages.
 */
export function draftOf(message: BaseMessage): MessageDraft | null {
  const draft = withoutId(message)
  return draft === null || message.id === undefined ? draft : { ...draft, sourceId: message.id }
}

function withoutId(message: BaseMessage): MessageDraft | null {
  if (message.additional_kwargs['lc_source'] === 'summarization') return null
  const { text, parts } = flattenContent('content', blocksOf(message.content as Json))
  const beside = parts.length > 0 ? { parts } : {}
  if (message.type === 'human') return { role: 'user', content: text, ...beside }
  if (message.type === 'system') return { role: 'system', content: text }
  if (ToolMessage.isInstance(message)) {
    const { tool_call_id: toolCallId, name, status } = message
    return {
      role: 'tool_result',
      content: text,
      toolCallId,
      ...beside,
      ...(name !== undefined && { toolName: name }),
      ...(status === 'error' && { isError: true }),
    }
  }
  return AIMessage.isInstance(message) ? replyOf(message, text) : null
}

function replyOf(message: AIMessage, content: string): MessageDraft {
  const toolCalls = (message.tool_calls ?? []).map(({ id, name, args }) => ({
    id: id ?? name,
    name,
    arguments: args as JsonObject,
  }))
  const thinking = reasoningIn(message.content as Json)
  const { model_name: modelName, model } = message.response_metadata as Record<string, unknown>
  const name = [modelName, model].find((each) => typeof each === 'string' && each !== '')
  const usage = usageOf(message.usage_metadata)
  return {
    role: 'assistant',
    content,
    ...(thinking.length > 0 && { thinking }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(typeof name === 'string' && { model: name }),
    ...(usage !== undefined && { usage }),
  }
}

function reasoningIn(content: Json): { text: string; signature?: string }[] {
  if (!Array.isArray(content)) return []
  return content.filter(isJsonObject).flatMap((block) => {
    const text = textField(block, 'thinking') ?? textField(block, 'reasoning')
    const signature = textField(block, 'signature')
    return text === undefined ? [] : [{ text, ...(signature !== undefined && { signature }) }]
  })
}

function blocksOf(content: Json): Json {
  if (!Array.isArray(content)) return content
  return content.flatMap((block) => {
    if (!isJsonObject(block)) return [block]
    const { type } = block
    if (CALL_BLOCKS.has(String(type)) || type === 'thinking' || type === 'reasoning') return []
    return [type === 'image' ? imageBlock(block) : block]
  })
}

/** LangChain's own image blocks, of both of its versions, in the form of OpenAI. */
function imageBlock(block: JsonObject): Json {
  const { url, data, mimeType, mime_type: olderType } = block
  const type = typeof mimeType === 'string' ? mimeType : olderType
  const address = typeof data === 'string' ? `data:${type ?? 'image/png'};base64,${data}` : url
  return typeof address === 'string' ? { type: 'image_url', image_url: { url: address } } : block
}
