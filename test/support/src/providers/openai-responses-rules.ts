import { areParts, isOpenAiResponsesPart } from '../validators/media.js'
import { type Fields, isBroken, isFields, isFilled, listOf, repeatedIn } from './fields.js'
import { encryptedContentOf } from './signatures.js'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const CALL_ID_CHARACTERS_MAX = 64
const CALLS = new Map([
  ['function_call', 'function_call_output'],
  ['custom_tool_call', 'custom_tool_call_output'],
])
const OUTPUTS = new Set(CALLS.values())
/** Items whose fields are opaque to clients. */
const OPAQUE = new Set([
  'compaction',
  'item_reference',
  'web_search_call',
  'file_search_call',
  'computer_call',
  'computer_call_output',
  'code_interpreter_call',
  'image_generation_call',
  'local_shell_call',
  'local_shell_call_output',
  'mcp_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
])

/** Faults for which OpenAI's Responses API refuses a request, from its reference and its error messages (read 2026-11). */
export function openAiResponsesRequestFaults(body: unknown): string[] {
  if (!isFields(body)) return ['the body is not an object']
  const { model, input, previous_response_id: previous } = body
  const faults: string[] = []
  if (!isFilled(model)) faults.push('missing required parameter: model')
  if (isBroken(body)) faults.push('the body holds half of a surrogate pair')
  if (typeof input === 'string') return faults
  if (!Array.isArray(input) || input.length === 0) return [...faults, 'missing required parameter: input']
  const items = listOf(input)
  const isWhole = previous === undefined || previous === null
  return [...faults, ...items.flatMap(itemFaults), ...pairFaults(items, isWhole), ...reasoningFaults(items)]
}

function itemFaults(item: Fields, index: number): string[] {
  const { type = 'message', role, content, output } = item
  const report = (rule: string) => [`input[${index}]: ${rule}`]
  if (type === 'message') {
    if (!['system', 'developer', 'user', 'assistant'].includes(String(role)))
      return report(`role: unexpected ${String(role)}`)
    const isSound = typeof content === 'string' || areParts(content, (part) => isPart(part, role))
    return isSound ? [] : report('content: expected a text or a list of parts')
  }
  if (CALLS.has(String(type))) {
    const { call_id: id, name } = item
    return [
      ...(isFilled(id) && id.length <= CALL_ID_CHARACTERS_MAX ? [] : report('call_id: field required')),
      ...(NAME.test(String(name)) ? [] : report('name does not match the pattern')),
      ...(typeof item[type === 'function_call' ? 'arguments' : 'input'] === 'string'
        ? []
        : report('arguments must be a text')),
    ]
  }
  if (OUTPUTS.has(String(type)))
    return typeof output === 'string' || areParts(output, isOpenAiResponsesPart) ? [] : report('output: field required')
  if (type === 'reasoning') {
    const { id, summary, encrypted_content: encrypted } = item
    if (!Array.isArray(summary)) return report('summary: field required')
    const isKept = encrypted === undefined || encrypted === null || encrypted === encryptedContentOf(String(id))
    return isKept ? [] : report(`the encrypted content for item ${String(id)} could not be verified`)
  }
  return OPAQUE.has(String(type)) ? [] : report(`invalid value: '${String(type)}'`)
}

function isPart(part: Fields, role: unknown): boolean {
  if (role !== 'assistant') return isOpenAiResponsesPart({ detail: 'auto', ...part })
  const { type, text, refusal } = part
  return (type === 'output_text' && typeof text === 'string') || (type === 'refusal' && typeof refusal === 'string')
}

/** Each call has its output later in the list, and each output its call before; a former response may hold the calls. */
function pairFaults(items: readonly Fields[], isWhole: boolean): string[] {
  const [open, answered] = [new Map<string, string>(), new Set<string>()]
  const faults: string[] = []
  for (const [index, { type, call_id: id }] of items.entries()) {
    const wanted = CALLS.get(String(type))
    const key = String(id)
    if (wanted !== undefined) {
      if (open.has(key) || answered.has(key)) faults.push(`input[${index}]: duplicate call_id ${key}`)
      open.set(key, wanted)
    } else if (OUTPUTS.has(String(type))) {
      if (open.get(key) === type) {
        open.delete(key)
        answered.add(key)
      } else if (isWhole || answered.has(key))
        faults.push(`input[${index}]: no tool call found for function call output with call_id ${key}`)
    }
  }
  return [...faults, ...[...open.keys()].map((id) => `no tool output found for function call ${id}`)]
}

/** A reasoning item is followed by an item of the same reply. */
function reasoningFaults(items: readonly Fields[]): string[] {
  const ids = items.flatMap(({ id }) => (isFilled(id) ? [id] : []))
  const isOfReply = (item: Fields | undefined) =>
    item !== undefined &&
    (item['role'] === 'assistant' || item['type'] === 'reasoning' || /_call$/.test(String(item['type'])))
  return [
    ...repeatedIn(ids).map((id) => `duplicate item found with id ${id}`),
    ...items.flatMap(({ type, id }, index) =>
      type === 'reasoning' && !isOfReply(items[index + 1])
        ? [`item '${String(id)}' of type 'reasoning' was provided without its required following item`]
        : [],
    ),
  ]
}
