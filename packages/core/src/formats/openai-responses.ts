import type { OpenAiResponsesItem, OpenAiResponsesPart } from '@heddle/contracts'
import { remembered } from '../conversation/remembered.js'
import { argumentsText, sentCallId, sentToolName } from './calls.js'
import type { Format } from './format.js'
import type { NeutralMessage, NeutralPart } from './neutral-message.js'
import { FUNCTION_NAME_CHARACTERS_MAX } from './openai-chat.js'
import { openAiResponsesFaults } from './openai-responses-rules.js'
import { addressOf, fileNameOf, spoken } from './part-delivery.js'
import { MessageReader, type Piece } from './parts.js'
import { isBlank, OPENING_TEXT } from './texts.js'

const toSharedItems = remembered(toOpenAiItems)

/**
 * The `input` of OpenAI's Responses API: texts, calls and results are separate items. Reasoning is left out: that of
 * other providers has no place in it, and OpenAI's own is accepted only with ids of its server.
 */
export const openAiResponses: Format = {
  name: 'openai-responses',
  carriesReasoning: false,
  render: toOpenAiResponses,
  alone(message) {
    const content = toSharedItems(message)
    return content.length === 0 ? null : { content }
  },
  opening: openAiResponsesOpening(),
  faults: ({ messages }) => openAiResponsesFaults(messages),
  pieces: ({ messages }) => messages.map((block) => ({ role: String(block['role'] ?? ''), block })),
  read,
}

export function toOpenAiResponses(messages: readonly NeutralMessage[]) {
  const placed = messages.map(toSharedItems)
  const sent = placed.flat()
  return {
    system: null,
    messages: sent.length > 0 ? sent : [openAiResponsesOpening()],
    counts: placed.map((items) => items.length),
  }
}

function openAiResponsesOpening(): OpenAiResponsesItem {
  return { type: 'message', role: 'user', content: OPENING_TEXT }
}

/** The items of one message, independent of its neighbors; empty if the message is empty. */
function toOpenAiItems(message: NeutralMessage): OpenAiResponsesItem[] {
  const said = spoken('openai-responses', message)
  const content = typeof said === 'string' ? said : said.flatMap(toParts)
  if (message.role === 'tool_result') {
    return [{ type: 'function_call_output', call_id: sentCallId(message.toolCallId ?? ''), output: content }]
  }
  if (typeof content !== 'string') return [{ type: 'message', role: 'user', content }]
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return [
    ...(isBlank(content) ? [] : [{ type: 'message' as const, role: message.role, content }]),
    ...calls.map(
      (call): OpenAiResponsesItem => ({
        type: 'function_call',
        call_id: sentCallId(call.id),
        name: sentToolName(call.name, FUNCTION_NAME_CHARACTERS_MAX),
        arguments: argumentsText(call.arguments),
      }),
    ),
  ]
}

function toParts(said: string | NeutralPart): OpenAiResponsesPart[] {
  if (typeof said === 'string') return isBlank(said) ? [] : [{ type: 'input_text', text: said }]
  const { type, url, fileId } = said
  const source = fileId === undefined ? null : { file_id: fileId }
  const address = addressOf(said, 'openai-responses')
  if (type === 'image')
    return [{ type: 'input_image', detail: said.detail ?? 'auto', ...(source ?? { image_url: address }) }]
  const file = url === undefined ? { file_data: address, filename: fileNameOf(said) } : { file_url: url }
  return [{ type: 'input_file', ...(source ?? file) }]
}

function textOf(content: string | OpenAiResponsesPart[]): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'input_text' ? part.text : '')).join('')
}

function read(pieces: readonly Piece[]): NeutralMessage | null {
  const reader = new MessageReader()
  for (const { block } of pieces) {
    const item = block as OpenAiResponsesItem
    if (item.type === 'message') reader.say(item.role, textOf(item.content))
    else if (item.type === 'function_call_output') reader.answer(textOf(item.output), { toolCallId: item.call_id })
    else reader.call({ id: item.call_id, name: item.name, arguments: item.arguments })
  }
  return reader.message()
}
