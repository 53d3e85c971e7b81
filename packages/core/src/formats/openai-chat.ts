import type { OpenAiChatMessage, OpenAiChatPart, OpenAiToolCall } from '@heddle/contracts'
import { remembered } from '../conversation/remembered.js'
import { argumentsText, sentCallId, sentToolName } from './calls.js'
import type { Format } from './format.js'
import type { NeutralMessage, NeutralPart } from './neutral-message.js'
import { openAiChatFaults } from './openai-chat-rules.js'
import { addressOf, fileNameOf, OPENAI_SOUNDS, slotOf, spoken } from './part-delivery.js'
import { MessageReader, type Piece } from './parts.js'
import { isBlank, OPENING_TEXT } from './texts.js'

/** OpenAI's limit for names of functions, in chat completions and in responses. */
export const FUNCTION_NAME_CHARACTERS_MAX = 64

const toSharedMessage = remembered(toOpenAiMessage)

/**
 * OpenAI's chat completions and compatible servers. The format has no reasoning, so it is left out; so are empty
 * messages, which some of those servers refuse. A failed call is recognizable only by its text.
 */
export const openAiChat: Format = {
  name: 'openai-chat',
  carriesReasoning: false,
  render: toOpenAiChat,
  alone: toSharedMessage,
  opening: openAiOpening(),
  faults: ({ messages }) => openAiChatFaults(messages),
  pieces: ({ messages }) => messages.map((block) => ({ role: String(block['role']), block })),
  read,
}

export function toOpenAiChat(messages: readonly NeutralMessage[]) {
  const placed = messages.map(toSharedMessage)
  const sent = placed.flatMap((message) => message ?? [])
  return {
    system: null,
    messages: sent.length > 0 ? sent : [openAiOpening()],
    counts: placed.map((message) => (message === null ? 0 : 1)),
  }
}

export function openAiOpening(): OpenAiChatMessage {
  return { role: 'user', content: OPENING_TEXT }
}

/** One message, independent of its neighbors; null if it is empty. */
export function toOpenAiMessage(message: NeutralMessage): OpenAiChatMessage | null {
  const said = spoken('openai-chat', message)
  if (typeof said !== 'string') return { role: 'user', content: said.flatMap(toParts) }
  const content = said
  if (message.role === 'tool_result') {
    return { role: 'tool', tool_call_id: sentCallId(message.toolCallId ?? ''), content }
  }
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  if (calls.length > 0) {
    return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls.map(toOpenAiCall) }
  }
  return isBlank(content) ? null : { role: message.role, content }
}

function toParts(said: string | NeutralPart): OpenAiChatPart[] {
  if (typeof said === 'string') return isBlank(said) ? [] : [{ type: 'text', text: said }]
  const { type, mediaType, detail, fileId } = said
  if (type === 'audio') {
    const format = OPENAI_SOUNDS[mediaType ?? ''] ?? 'wav'
    return [{ type: 'input_audio', input_audio: { data: slotOf(said, 'openai-chat'), format } }]
  }
  const url = addressOf(said, 'openai-chat')
  if (type === 'image')
    return [{ type: 'image_url', image_url: { url, ...(detail !== undefined && detail !== 'original' && { detail }) } }]
  const file = fileId === undefined ? { file_data: url, filename: fileNameOf(said) } : { file_id: fileId }
  return [{ type: 'file', file }]
}

function toOpenAiCall(call: NonNullable<NeutralMessage['toolCalls']>[number]): OpenAiToolCall {
  return {
    id: sentCallId(call.id),
    type: 'function',
    function: { name: sentToolName(call.name, FUNCTION_NAME_CHARACTERS_MAX), arguments: argumentsText(call.arguments) },
  }
}

function read(pieces: readonly Piece[]): NeutralMessage | null {
  const reader = new MessageReader()
  for (const { block } of pieces) {
    const message = block as OpenAiChatMessage
    if (message.role === 'tool') reader.answer(message.content, { toolCallId: message.tool_call_id })
    else reader.say(message.role, textOf(message.content))
    if (message.role !== 'assistant') continue
    for (const { id, function: called } of message.tool_calls ?? []) reader.call({ id, ...called })
  }
  return reader.message()
}

function textOf(content: OpenAiChatMessage['content']): string {
  if (content === null || typeof content === 'string') return content ?? ''
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
