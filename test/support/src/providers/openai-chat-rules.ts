import { areParts, isOpenAiChatPart } from '../validators/media.js'
import { type Fields, isBroken, isFields, isFilled, listOf, repeatedIn } from './fields.js'

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool']
const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const CALL_ID_CHARACTERS_MAX = 40
const TOOLS_MAX = 128

/** Faults for which OpenAI's chat completions refuse a request, from its reference and its error messages (read 2026-11). */
export function openAiChatRequestFaults(body: unknown): string[] {
  if (!isFields(body)) return ['the body is not an object']
  const { model, messages } = body
  const faults: string[] = []
  if (!isFilled(model)) faults.push('you must provide a model parameter')
  if (isBroken(body)) faults.push('the body holds half of a surrogate pair')
  faults.push(...toolFaults(listOf(body['tools'])))
  if (!Array.isArray(messages) || messages.length === 0) return [...faults, "[] is too short - 'messages'"]
  return [...faults, ...listFaults(listOf(messages))]
}

function toolFaults(tools: readonly Fields[]): string[] {
  const names = tools.flatMap(({ function: called }) => (isFields(called) ? [String(called['name'])] : []))
  return [
    ...(tools.length > TOOLS_MAX ? [`tools: ${tools.length} exceed the maximum of ${TOOLS_MAX}`] : []),
    ...names.filter((name) => !NAME.test(name)).map((name) => `tools: the name ${name} does not match the pattern`),
    ...repeatedIn(names).map((name) => `tools: the name ${name} is not unique`),
  ]
}

function listFaults(messages: readonly Fields[]): string[] {
  const faults: string[] = []
  let open = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const report = (rule: string) => faults.push(`messages[${index}]: ${rule}`)
    const { role, content, tool_calls: calls, tool_call_id: answered, name } = message
    if (!ROLES.includes(String(role))) report(`role: ${String(role)} is not one of ${ROLES.join(', ')}`)
    if (name !== undefined && role !== 'tool' && !/^[^\s<|\\/>]{1,64}$/.test(String(name)))
      report('name does not match the pattern')
    if (role === 'tool') {
      if (!isSaid(content) && content !== '') report('content must be a text or a list of text parts')
      if (!open.delete(String(answered)))
        report("messages with role 'tool' must be a response to a preceding message with 'tool_calls'")
      continue
    }
    for (const id of open) report(`tool_call_ids did not have response messages: ${id}`)
    open = new Set()
    if (calls === undefined || calls === null) {
      const isOther = role === 'assistant' && (isFilled(message['refusal']) || isFields(message['audio']))
      const isUser = role === 'user' && areParts(content, isOpenAiChatPart)
      if (!isSaid(content) && content !== '' && !isUser && !isOther)
        report('content: expected a text or a list of parts')
      continue
    }
    if (role !== 'assistant') report('tool_calls are only allowed on assistant messages')
    if (content !== undefined && content !== null && content !== '' && !isSaid(content))
      report('content must be a text or null')
    if (!Array.isArray(calls) || calls.length === 0) report("[] is too short - 'tool_calls'")
    for (const call of listOf(calls)) for (const rule of callFaults(call)) report(rule)
    const ids = listOf(calls).map(({ id }) => String(id))
    for (const id of repeatedIn(ids)) report(`duplicate tool call id ${id}`)
    open = new Set(ids)
  }
  for (const id of open) faults.push(`tool_call_ids did not have response messages: ${id}`)
  return faults
}

/** A text, or the text parts that every role may have. */
function isSaid(content: unknown): boolean {
  return (
    isFilled(content) ||
    areParts(
      content,
      ({ type, text, refusal }) =>
        (type === 'text' && typeof text === 'string') || (type === 'refusal' && typeof refusal === 'string'),
    )
  )
}

function callFaults({ id, type, function: called, custom }: Fields): string[] {
  const faults: string[] = []
  if (!isFilled(id)) faults.push('tool_calls.id: field required')
  else if (id.length > CALL_ID_CHARACTERS_MAX)
    faults.push(`tool_calls.id: expected at most ${CALL_ID_CHARACTERS_MAX} characters`)
  if (type === 'custom') return isFields(custom) ? faults : [...faults, 'tool_calls.custom: field required']
  if (type !== 'function' || !isFields(called)) return [...faults, 'tool_calls.function: field required']
  if (!NAME.test(String(called['name']))) faults.push('tool_calls.function.name does not match the pattern')
  if (typeof called['arguments'] !== 'string') faults.push('tool_calls.function.arguments must be a text')
  return faults
}
