import { areParts, isOpenAiChatPart } from './media.js'

/**
 * The rules of OpenAI's chat completions for a list of messages, as its API reference and its error messages state them.
 * Written from those alone: it shares nothing with the renderer that it judges.
 */
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool']
const CALL_ID_CHARACTERS_MAX = 40
const NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** Violations, one sentence each; empty when the API would accept the list. */
export function validateOpenAiChat(messages: unknown): string[] {
  if (!Array.isArray(messages)) return ['messages is no list']
  if (messages.length === 0) return ["[] is too short - 'messages'"]
  const violations: string[] = []
  const report = (index: number, rule: string) => violations.push(`messages[${index}]: ${rule}`)
  const usedIds = new Set<string>()
  let open = new Set<string>()

  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) {
      report(index, 'is no object')
      continue
    }
    const { role, content, tool_calls: calls, tool_call_id: answered } = message
    if (typeof role !== 'string' || !ROLES.includes(role)) report(index, 'has an unknown role')
    for (const text of textsOf(message)) if (!text.isWellFormed()) report(index, 'holds a lone surrogate')

    if (role === 'tool') {
      if (typeof content !== 'string') report(index, 'content of a tool message must be a text')
      if (typeof answered !== 'string') report(index, 'tool_call_id is missing')
      else if (!open.delete(answered))
        report(index, 'answers no call of the assistant message right before the results')
      continue
    }
    if (open.size > 0) report(index, 'stands before every tool_call_id had its response message')
    open = new Set()
    if (answered !== undefined) report(index, 'tool_call_id stands on a message that is no result')

    if (calls === undefined) {
      const isSaid = typeof content === 'string' || (role === 'user' && areParts(content, isOpenAiChatPart))
      if (!isSaid) report(index, 'content must be a text, or parts of a user, where there are no tool_calls')
      continue
    }
    if (role !== 'assistant') report(index, 'tool_calls stand on a message that is no assistant message')
    if (content !== null && typeof content !== 'string') report(index, 'content must be a text or null')
    if (!Array.isArray(calls) || calls.length === 0) {
      report(index, 'tool_calls must be a list of one or more')
      continue
    }
    for (const call of calls) {
      for (const rule of callViolations(call)) report(index, rule)
      const id = isObject(call) ? call['id'] : undefined
      if (typeof id !== 'string') continue
      if (usedIds.has(id)) report(index, 'uses a tool call id for the second time')
      usedIds.add(id)
      open.add(id)
    }
  }
  if (open.size > 0) violations.push('the list ends before every tool_call_id had its response message')
  return violations
}

function callViolations(call: unknown): string[] {
  if (!isObject(call)) return ['a tool call is no object']
  const called = call['function']
  if (!isObject(called)) return ['a tool call has no function']
  const id = call['id']
  const violations: string[] = []
  if (call['type'] !== 'function') violations.push('a tool call has an unknown type')
  if (typeof id !== 'string' || id === '') violations.push('a tool call has no id')
  else if (id.length > CALL_ID_CHARACTERS_MAX) violations.push('a tool call id is too long')
  if (typeof called['name'] !== 'string' || !NAME.test(called['name']))
    violations.push('a function name does not match')
  if (typeof called['arguments'] !== 'string') violations.push('arguments must be a text')
  // The API accepts any text; compatible servers parse it and expect an object.
  else if (!isJsonObject(called['arguments'])) violations.push('arguments hold no JSON object')
  return violations
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
