import { areParts, isOpenAiResponsesPart } from './media.js'

/**
 * The rules of OpenAI's responses for a list of input items, as its API reference and its error messages state them.
 * Written from those alone: it shares nothing with the renderer that it judges.
 */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const CALL_ID_CHARACTERS_MAX = 64

/** Violations, one sentence each; empty when the API would accept the list. */
export function validateOpenAiResponses(input: unknown): string[] {
  if (!Array.isArray(input)) return ['input is no list']
  if (input.length === 0) return ["input: one of 'input' or 'previous_response_id' must be provided"]
  const violations: string[] = []
  const callAt = new Map<string, number>()
  const outputAt = new Map<string, number>()
  for (const [index, item] of (input as unknown[]).entries()) {
    const report = (rule: string) => violations.push(`input[${index}]: ${rule}`)
    if (typeof item !== 'object' || item === null) {
      report('is no object')
      continue
    }
    if (!JSON.stringify(item).isWellFormed() || /\\ud[89a-f]/i.test(JSON.stringify(item).replaceAll('\\\\', ''))) {
      report('holds a lone surrogate')
    }
    const {
      type = 'message',
      role,
      content,
      call_id: id,
      name,
      arguments: given,
      output,
    } = item as Record<string, unknown>
    if (type === 'message') {
      if (!['user', 'assistant', 'system', 'developer'].includes(String(role))) report('has an unknown role')
      const isSaid =
        typeof content === 'string' ? content !== '' : role === 'user' && areParts(content, isOpenAiResponsesPart)
      if (!isSaid) report('content must be a text, or parts of a user')
    } else if (type === 'function_call') {
      if (typeof id !== 'string' || id === '' || id.length > CALL_ID_CHARACTERS_MAX)
        report('call_id is missing or too long')
      if (typeof name !== 'string' || !NAME.test(name)) report('name does not match the pattern')
      if (typeof given !== 'string' || !isJsonObject(given)) report('arguments hold no JSON object')
      if (callAt.has(String(id))) report('duplicate call_id')
      callAt.set(String(id), index)
    } else if (type === 'function_call_output') {
      if (typeof output !== 'string' && !areParts(output, isOpenAiResponsesPart))
        report('output must be a text or parts')
      if (outputAt.has(String(id))) report('a second output for one call_id')
      outputAt.set(String(id), index)
    } else report('has an unknown type')
  }
  for (const [id, at] of callAt) {
    if (!((outputAt.get(id) ?? -1) > at)) violations.push(`No tool output found for function call at input[${at}]`)
  }
  for (const [id, at] of outputAt) {
    if (!callAt.has(id)) violations.push(`No tool call found for function call output at input[${at}]`)
  }
  return violations
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
