import type { JsonObject } from '@heddle/contracts'
import { isObject, objectsIn, textIn } from './blocks.js'
import type { ReadEntry } from './entry.js'

/** Reads a message of a request to OpenAI's chat completions. */
export function readChatEntry(value: JsonObject): ReadEntry {
  const { role } = value
  const answers = role === 'tool' ? textIn(value['tool_call_id']) : null
  const text = textIn(value['content'])
  return {
    kind: role === 'assistant' ? 'assistant' : role === 'user' ? 'user' : isResult(role) ? 'results' : 'instruction',
    calls: objectsIn(value['tool_calls']).flatMap(({ id, function: called }) =>
      typeof id === 'string' ? [{ id, name: (isObject(called) ? textIn(called['name']) : null) ?? '' }] : [],
    ),
    resultIds: answers === null ? [] : [answers],
    isBoundToNext: false,
    isOwnCompaction: false,
    results: answers === null || text === null ? [] : [{ path: ['content'], callId: answers, text }],
  }
}

const isResult = (role: unknown): boolean => role === 'tool' || role === 'function'

/** Items after which the provider expects the item that they were made with. */
const BOUND: ReadonlySet<unknown> = new Set(['reasoning'])
const CALLS: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call', 'local_shell_call', 'computer_call'])
const OUTPUTS: ReadonlySet<unknown> = new Set(
  [...CALLS].map((type) => `${type as string}_output`).concat('mcp_approval_response'),
)

/** Reads an item of the input of OpenAI's responses. */
export function readResponsesEntry(value: JsonObject): ReadEntry {
  const { type } = value
  const callId = textIn(value['call_id']) ?? textIn(value['approval_request_id'])
  const isOutput = OUTPUTS.has(type)
  const output = type === 'function_call_output' ? textIn(value['output']) : null
  return {
    kind: isOutput ? 'results' : kindOf(value),
    calls: CALLS.has(type) && callId !== null ? [{ id: callId, name: textIn(value['name']) ?? '' }] : [],
    resultIds: isOutput && callId !== null ? [callId] : [],
    isBoundToNext: BOUND.has(type),
    isOwnCompaction: type === 'compaction' || type === 'item_reference',
    results: callId === null || output === null ? [] : [{ path: ['output'], callId, text: output }],
  }
}

function kindOf({ role, type }: JsonObject): ReadEntry['kind'] {
  if (role === 'system' || role === 'developer') return 'instruction'
  return role === 'user' && (type === undefined || type === 'message') ? 'user' : 'assistant'
}
