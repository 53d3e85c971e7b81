import type { JsonObject } from '@heddle/contracts'
import { isObject, objectField, textOf } from './json-fields.js'

/** Assembles the completion of a stream of OpenAI's chat completions, of its first choice; null if it is incomplete. */
export function completionInChatStream(events: Iterable<JsonObject>): JsonObject | null {
  const message: JsonObject = { role: 'assistant', content: null }
  const calls = new Map<number, JsonObject>()
  let facts: JsonObject = {}
  let isComplete = false
  for (const event of events) {
    const { id, model, usage } = event
    facts = {
      id: id ?? facts['id'] ?? null,
      model: model ?? facts['model'] ?? null,
      usage: usage ?? facts['usage'] ?? null,
    }
    const choices = event['choices']
    const choice = Array.isArray(choices) ? choices.find((each) => isObject(each) && (each['index'] ?? 0) === 0) : null
    if (!isObject(choice)) continue
    addDelta(message, calls, objectField(choice, 'delta'))
    if (typeof choice['finish_reason'] === 'string') isComplete = true
  }
  if (!isComplete) return null
  if (calls.size > 0) {
    message['tool_calls'] = [...calls.entries()].sort(([one], [other]) => one - other).map(([, call]) => call)
  }
  return { ...facts, choices: [{ index: 0, message }] }
}

const TEXTS = ['content', 'refusal', 'reasoning_content'] as const

function addDelta(message: JsonObject, calls: Map<number, JsonObject>, delta: JsonObject): void {
  for (const name of TEXTS) {
    if (typeof delta[name] === 'string') message[name] = textOf(message[name]) + textOf(delta[name])
  }
  const given = delta['tool_calls']
  for (const call of Array.isArray(given) ? given : []) {
    if (!isObject(call)) continue
    const index = Number(call['index'] ?? 0)
    const before = calls.get(index) ?? { id: '', type: 'function', function: { name: '', arguments: '' } }
    const [said, added] = [objectField(before, 'function'), objectField(call, 'function')]
    calls.set(index, {
      id: textOf(call['id']) || textOf(before['id']),
      type: 'function',
      function: {
        name: textOf(said['name']) + textOf(added['name']),
        arguments: textOf(said['arguments']) + textOf(added['arguments']),
      },
    })
  }
}
