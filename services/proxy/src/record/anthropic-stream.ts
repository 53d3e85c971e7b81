import type { JsonObject } from '@heddle/contracts'
import { isObject, objectField, textOf } from './json-fields.js'

/** Assembles the message of a stream of Anthropic's; null if the stream is incomplete. */
export function messageInAnthropicStream(events: Iterable<JsonObject>): JsonObject | null {
  let message: JsonObject | null = null
  let isComplete = false
  const blocks = new Map<number, JsonObject>()
  const inputs = new Map<number, string>()
  for (const event of events) {
    const index = Number(event['index'] ?? 0)
    const block = blocks.get(index)
    switch (event['type']) {
      case 'message_start':
        message = { ...objectField(event, 'message') }
        break
      case 'content_block_start':
        blocks.set(index, { ...objectField(event, 'content_block') })
        break
      case 'content_block_delta':
        if (block !== undefined) addDelta(block, objectField(event, 'delta'), inputs, index)
        break
      case 'message_delta':
        if (message !== null) {
          message = ended(message, event)
        }
        break
      case 'message_stop':
        isComplete = true
        break
    }
  }
  if (message === null || !isComplete) return null
  for (const [index, text] of inputs) {
    const block = blocks.get(index)
    if (block !== undefined) block['input'] = parsedInput(text)
  }
  return { ...message, content: [...blocks.entries()].sort(([one], [other]) => one - other).map(([, block]) => block) }
}

/** The usage at the end counts the output; that at the beginning, the input. */
function ended(message: JsonObject, event: JsonObject): JsonObject {
  const usage = { ...objectField(message, 'usage'), ...objectField(event, 'usage') }
  return { ...message, ...objectField(event, 'delta'), usage }
}

function addDelta(block: JsonObject, delta: JsonObject, inputs: Map<number, string>, index: number): void {
  switch (delta['type']) {
    case 'text_delta':
      block['text'] = textOf(block['text']) + textOf(delta['text'])
      break
    case 'thinking_delta':
      block['thinking'] = textOf(block['thinking']) + textOf(delta['thinking'])
      break
    case 'signature_delta':
      block['signature'] = textOf(block['signature']) + textOf(delta['signature'])
      break
    case 'input_json_delta':
      inputs.set(index, (inputs.get(index) ?? '') + textOf(delta['partial_json']))
      break
  }
}

function parsedInput(text: string): JsonObject {
  if (text === '') return {}
  const value: unknown = JSON.parse(text)
  return isObject(value) ? value : {}
}
