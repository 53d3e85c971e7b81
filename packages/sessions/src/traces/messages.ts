import { isJsonObject, type Json, type JsonObject, textField } from '@heddle/client/forms'
import { objectField } from '../fields.js'

/** A message of LangChain, as its own object, written out (`{ lc, kwargs }`), or in the form of OpenAI; null for anything else. */
export function chatMessageOf(value: Json | undefined): JsonObject | null {
  if (!isJsonObject(value)) return null
  const fields = objectField(value, 'kwargs') ?? objectField(value, 'data') ?? value
  const role = textField(fields, 'role') ?? ROLES[textField(fields, 'type') ?? textField(value, 'type') ?? '']
  if (role === undefined) return null
  const calls = callsOf(fields)
  const toolCallId = textField(fields, 'tool_call_id')
  const name = textField(fields, 'name')
  const content = fields['content']
  return {
    role,
    content:
      typeof content === 'string' || Array.isArray(content) ? content : content == null ? '' : JSON.stringify(content),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(role === 'tool' && name !== undefined && { name }),
  }
}

const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  ai: 'assistant',
  AIMessageChunk: 'assistant',
  system: 'system',
  tool: 'tool',
}

/** Calls of LangChain (`{ id, name, args }`) and of OpenAI. */
function callsOf(fields: JsonObject): Json[] {
  const own = fields['tool_calls']
  const calls = Array.isArray(own) && own.length > 0 ? own : objectField(fields, 'additional_kwargs')?.['tool_calls']
  if (!Array.isArray(calls)) return []
  return calls.flatMap((call) => {
    if (!isJsonObject(call)) return []
    if (call['args'] === undefined) return [call]
    return [{ id: call['id'] ?? '', type: 'function', function: { name: call['name'] ?? '', arguments: call['args'] } }]
  })
}

/** Messages in a list, in lists of it, or in the field `messages`; a text is a message of `role`. */
export function chatMessagesIn(value: Json | undefined, role: 'user' | 'assistant'): JsonObject[] {
  if (typeof value === 'string') return value === '' ? [] : [{ role, content: value }]
  if (Array.isArray(value))
    return value.flatMap((each) => (isJsonObject(each) || Array.isArray(each) ? chatMessagesIn(each, role) : []))
  if (!isJsonObject(value)) return []
  const message = chatMessageOf(value)
  if (message !== null) return [message]
  for (const field of ['messages', 'message', 'generations', 'choices', 'input', 'output', 'content', 'text']) {
    const found = chatMessagesIn(value[field], role)
    if (found.length > 0) return found
  }
  return []
}
