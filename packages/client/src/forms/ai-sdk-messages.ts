import { blocksField, flattenContent, partsField } from './content.js'
import { isJsonObject, type Json, type JsonObject, metadataField, textField } from './json.js'
import type { MessageDraft } from './message-draft.js'

type Thinking = NonNullable<MessageDraft['thinking']>[number]

/** The messages in a `ModelMessage`: each result is one message, also those of tools that the provider ran itself. */
export function readAiSdkMessage({ role, content }: JsonObject): MessageDraft[] {
  const parts = Array.isArray(content) ? content : [content ?? '']
  switch (role) {
    case 'tool':
      return parts.map((part) => (isType(part, 'tool-result') ? readResult(part) : readApproval(part)))
    case 'assistant':
      return readAnswer(parts)
    default: {
      const flat = flattenContent('content', parts)
      const said = { content: flat.text, ...partsField(flat), ...metadataField(blocksField(flat)) }
      return [{ role: role === 'system' ? 'system' : 'user', ...said }]
    }
  }
}

function readAnswer(parts: readonly Json[]): MessageDraft[] {
  const thinking: Thinking[] = []
  const toolCalls: NonNullable<MessageDraft['toolCalls']> = []
  const results: MessageDraft[] = []
  const rest: Json[] = []
  /** Reasoning of other providers, with the fields needed to send it back. */
  const unsigned: JsonObject[] = []
  for (const part of parts) {
    if (isType(part, 'reasoning')) {
      const thought = readReasoning(part)
      if (thought !== null) thinking.push(thought)
      if (
        thought?.signature === undefined &&
        thought?.redacted === undefined &&
        isJsonObject(part['providerOptions'])
      ) {
        unsigned.push({ providerOptions: part['providerOptions'] })
      }
    } else if (isType(part, 'tool-call')) toolCalls.push(readCall(part))
    else if (isType(part, 'tool-result')) results.push(readResult(part))
    else rest.push(part)
  }
  const flat = flattenContent('content', rest)
  const answer: MessageDraft = {
    role: 'assistant',
    content: flat.text,
    ...partsField(flat),
    ...(thinking.length > 0 && { thinking }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...metadataField(blocksField(flat), unsigned.length > 0 ? { reasoning: unsigned } : {}),
  }
  return [answer, ...results]
}

/** Only Anthropic's signature can be sent again; empty reasoning is left out. */
function readReasoning(part: JsonObject): Thinking | null {
  const { providerOptions: options } = part
  const signed = isJsonObject(options) && isJsonObject(options['anthropic']) ? options['anthropic'] : {}
  const redacted = textField(signed, 'redactedData')
  if (redacted !== undefined) return { text: '', redacted }
  const text = textField(part, 'text') ?? ''
  const signature = textField(signed, 'signature')
  if (signature !== undefined) return { text, signature }
  return text === '' ? null : { text }
}

function readCall({ toolCallId, toolName, input }: JsonObject): NonNullable<MessageDraft['toolCalls']>[number] {
  const given = input ?? {}
  return {
    id: String(toolCallId),
    name: String(toolName),
    arguments: typeof given === 'string' || isJsonObject(given) ? given : JSON.stringify(given),
  }
}

/** Besides results, version 6 has approvals of people. They are stored, and never sent. */
function readApproval(part: Json): MessageDraft {
  const flat = flattenContent('content', [part])
  return { role: 'approval', content: flat.text, ...metadataField(blocksField(flat)) }
}

function readResult({ toolCallId, toolName, output }: JsonObject): MessageDraft {
  const { type, value, reason } = isJsonObject(output) ? output : {}
  const isError = type === 'error-text' || type === 'error-json' || type === 'execution-denied'
  const flat = flattenContent('output', type === 'content' && Array.isArray(value) ? value : null)
  return {
    role: 'tool_result',
    content: textOfOutput(type, value, reason) ?? flat.text,
    ...partsField(flat),
    toolCallId: String(toolCallId),
    toolName: String(toolName),
    ...(isError && { isError }),
    ...metadataField(blocksField(flat)),
  }
}

/** Null if the output is a list of parts. */
function textOfOutput(type: Json | undefined, value: Json | undefined, reason: Json | undefined): string | null {
  if (type === 'content') return null
  if (type === 'execution-denied') return typeof reason === 'string' ? reason : 'The tool was not allowed to run.'
  return typeof value === 'string' && type !== 'json' ? value : JSON.stringify(value ?? null)
}

function isType(part: Json, type: string): part is JsonObject {
  return isJsonObject(part) && part['type'] === type
}
