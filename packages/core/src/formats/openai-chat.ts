import { argumentsText, sentCallId, sentToolName } from './calls.js'
import type { NeutralMessage } from './neutral.js'
import { isBlank, OPENING_TEXT } from './texts.js'

const TOOL_NAME_CHARACTERS_MAX = 64

export type OpenAiToolCall = { id: string; type: 'function'; function: { name: string; arguments: string } }

export type OpenAiChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: OpenAiToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string }

/**
 * Messages for OpenAI's chat completions and the servers that take the same form. Reasoning has no place in it and is
 * left out; so is a message that says nothing, which some of those servers refuse.
 *
 * @param messages well formed; see {@link NeutralMessage}
 */
export function toOpenAiChat(messages: readonly NeutralMessage[]): { system: null; messages: OpenAiChatMessage[] } {
  const sent = messages.flatMap((message) => toOpenAiMessage(message) ?? [])
  return { system: null, messages: sent.length > 0 ? sent : [openAiOpening()] }
}

export function openAiOpening(): OpenAiChatMessage {
  return { role: 'user', content: OPENING_TEXT }
}

/** One message, whatever stands around it; null where it says nothing. */
export function toOpenAiMessage(message: NeutralMessage): OpenAiChatMessage | null {
  const content = message.content.toWellFormed()
  if (message.role === 'tool_result') {
    return { role: 'tool', tool_call_id: sentCallId(message.toolCallId ?? ''), content }
  }
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  if (calls.length > 0) {
    return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls.map(toOpenAiCall) }
  }
  return isBlank(content) ? null : { role: message.role, content }
}

function toOpenAiCall(call: NonNullable<NeutralMessage['toolCalls']>[number]): OpenAiToolCall {
  return {
    id: sentCallId(call.id),
    type: 'function',
    function: { name: sentToolName(call.name, TOOL_NAME_CHARACTERS_MAX), arguments: argumentsText(call.arguments) },
  }
}
