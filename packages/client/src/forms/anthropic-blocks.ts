import { validationError } from '@heddle/contracts'
import { blocksField, blocksOf, type FlatContent, flattenContent, partsField } from './content.js'
import { isJsonObject, type Json, type JsonObject, metadataField } from './json.js'
import type { MessageDraft } from './message-draft.js'

type ToolCalls = NonNullable<MessageDraft['toolCalls']>
type Thinking = NonNullable<MessageDraft['thinking']>

/** An assistant's content in Anthropic's blocks, as one message. */
export function readAssistant(place: string, content: Json | undefined): MessageDraft {
  const rest: Json[] = []
  const thinking: Thinking = []
  const toolCalls: ToolCalls = []
  for (const block of blocksOf(place, content)) {
    const thought = readThinking(block)
    if (thought !== null) thinking.push(thought)
    else if (isJsonObject(block) && block['type'] === 'tool_use') toolCalls.push(readCall(place, block))
    else rest.push(block)
  }
  const flat = flattenContent(place, rest)
  return {
    role: 'assistant',
    content: flat.text,
    ...partsField(flat),
    ...(thinking.length > 0 && { thinking }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...metadataField(blocksField(flat)),
  }
}

/**
 * A user's content in Anthropic's blocks: one message per tool result, then one with the rest. `block` is the index of
 * the first block of each.
 */
export function readUser(place: string, content: Json | undefined): { block: number; input: MessageDraft }[] {
  if (!Array.isArray(content)) return [{ block: 0, input: userDraft(flattenContent(place, content)) }]
  const results: { block: number; input: MessageDraft }[] = []
  const rest: Json[] = []
  let restBlock = 0
  for (const [block, part] of content.entries()) {
    if (isJsonObject(part) && part['type'] === 'tool_result') {
      results.push({ block, input: readResult(place, part) })
      continue
    }
    if (rest.length === 0) restBlock = block
    rest.push(part)
  }
  return rest.length === 0 ? results : [...results, { block: restBlock, input: userDraft(flattenContent(place, rest)) }]
}

/** A block of reasoning; null for any other block. */
export function readThinking(block: Json): Thinking[number] | null {
  if (!isJsonObject(block)) return null
  const { type, thinking, signature, data } = block
  if (type === 'redacted_thinking' && typeof data === 'string') return { text: '', redacted: data }
  if (type !== 'thinking' || typeof thinking !== 'string') return null
  return { text: thinking, ...(typeof signature === 'string' && signature !== '' && { signature }) }
}

function userDraft(flat: FlatContent): MessageDraft {
  return { role: 'user', content: flat.text, ...partsField(flat), ...metadataField(blocksField(flat)) }
}

function readCall(place: string, block: JsonObject): ToolCalls[number] {
  const { id, name, input } = block
  if (typeof id !== 'string') throw validationError(place, 'a tool_use block must have an id', id)
  if (typeof name !== 'string') throw validationError(place, 'a tool_use block must have a name', name)
  if (input === undefined || input === null) return { id, name, arguments: {} }
  return { id, name, arguments: isJsonObject(input) || typeof input === 'string' ? input : JSON.stringify(input) }
}

function readResult(place: string, block: JsonObject): MessageDraft {
  const { tool_use_id: toolCallId, content, is_error: isError } = block
  if (typeof toolCallId !== 'string') throw validationError(place, 'a tool_result must have a tool_use_id', toolCallId)
  const flat = flattenContent(place, content)
  return {
    role: 'tool_result',
    content: flat.text,
    ...partsField(flat),
    toolCallId,
    ...(isError === true && { isError }),
    ...metadataField(blocksField(flat)),
  }
}
