import { validationError } from '@heddle/contracts'
import { blocksField, type FlatContent, flattenContent, partsField } from './content.js'
import { isJsonObject, type Json, type JsonObject, metadataField, otherFields, textField } from './json.js'
import type { DraftMessage, MessageDraft, SourceRecord } from './message-draft.js'

type ToolCalls = NonNullable<MessageDraft['toolCalls']>

const KNOWN_FIELDS = new Set([
  'id',
  'role',
  'content',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'reasoning_content',
  'refusal',
  'model',
  'usage',
])

const ROLES = 'system, developer, user, assistant, tool or function'

/** @param legacyCallIds ids of earlier calls that came without one, by the name of their function */
export function readOpenAiMessage(
  record: SourceRecord,
  index: number,
  legacyCallIds: Map<string, string>,
): DraftMessage {
  const { place, value } = record
  const id = textField(value, 'id')
  const model = textField(value, 'model')
  const input = readByRole(record, index, legacyCallIds)
  const others = otherFields(value, KNOWN_FIELDS)
  if (input.toolName !== undefined) delete others['name']
  return {
    place,
    ...(id !== undefined && { identity: id }),
    input: {
      ...input,
      ...(id !== undefined && { sourceId: id }),
      ...(model !== undefined && { model }),
      ...(isJsonObject(value['usage']) && { usage: value['usage'] }),
      ...metadataField(input.metadata ?? {}, others),
    },
  }
}

function readByRole({ place, value }: SourceRecord, index: number, legacyCallIds: Map<string, string>): MessageDraft {
  const { role } = value
  const flat = flattenContent(place, value['content'])
  const said = { content: flat.text, ...partsField(flat), ...metadataField(blocksField(flat)) }
  const name = textField(value, 'name')
  switch (role) {
    case 'system':
    case 'user':
      return { role, ...said }
    case 'developer':
      return { role: 'system', ...said, ...metadataField(blocksField(flat), { role }) }
    case 'assistant':
      return { role, ...said, ...readAnswer(place, value, index, legacyCallIds, flat) }
    case 'tool': {
      const toolCallId = value['tool_call_id']
      if (typeof toolCallId !== 'string')
        throw validationError(place, 'a tool message must have a tool_call_id', toolCallId)
      return { role: 'tool_result', ...said, toolCallId, ...(name !== undefined && { toolName: name }) }
    }
    case 'function': {
      const toolCallId = legacyCallIds.get(name ?? '')
      if (name === undefined || toolCallId === undefined) {
        throw validationError(place, 'a function message must name a function that was called before it', name)
      }
      return { role: 'tool_result', ...said, toolCallId, toolName: name }
    }
    default:
      throw validationError(`${place}`, `role must be ${ROLES}`, role)
  }
}

function readAnswer(
  place: string,
  value: JsonObject,
  index: number,
  legacyCallIds: Map<string, string>,
  flat: FlatContent,
): Partial<MessageDraft> {
  const reasoning = textField(value, 'reasoning_content')
  const refusal = textField(value, 'refusal')
  const toolCalls = readToolCalls(place, value['tool_calls'])
  const legacy = value['function_call']
  if (isJsonObject(legacy)) {
    // The form before `tool_calls` had no ids: results refer to calls by the function's name.
    const id = `function_call-${index}`
    const call = readFunction(place, id, legacy)
    legacyCallIds.set(call.name, id)
    toolCalls.push(call)
  }
  return {
    ...(flat.text === '' && refusal !== undefined && { content: refusal }),
    ...(reasoning !== undefined && { thinking: [{ text: reasoning }] }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(refusal !== undefined && { metadata: { ...blocksField(flat), refusal: true } }),
  }
}

/** Calls in OpenAI's format; empty if the field is missing or null. */
export function readToolCalls(place: string, calls: Json | undefined): ToolCalls {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) throw validationError(place, 'tool_calls must be a list', calls)
  return calls.map((call) => {
    const id = isJsonObject(call) ? call['id'] : undefined
    if (!isJsonObject(call) || typeof id !== 'string') throw validationError(place, 'a tool call must have an id', id)
    const { function: called, custom } = call
    if (isJsonObject(called)) return readFunction(place, id, called)
    if (isJsonObject(custom))
      return readFunction(place, id, { name: custom['name'] ?? '', arguments: custom['input'] ?? '' })
    throw validationError(place, 'a tool call must have a function', called)
  })
}

/** Arguments that are a text are kept unchanged, even if they are not JSON. */
function readFunction(place: string, id: string, called: JsonObject): ToolCalls[number] {
  const { name, arguments: given } = called
  if (typeof name !== 'string' || name === '') throw validationError(place, 'a function call must have a name', name)
  if (given === undefined || given === null) return { id, name, arguments: '' }
  return { id, name, arguments: typeof given === 'string' || isJsonObject(given) ? given : JSON.stringify(given) }
}
