import {
  type DraftMessage,
  isJsonObject,
  type Json,
  type JsonObject,
  type MessageDraft,
  readOpenAiMessage,
  textField,
} from '@heddle/client/forms'
import { validationError } from '@heddle/contracts'
import { recordsIn } from '../conversations.js'
import { objectField } from '../fields.js'
import type { Draft, Reading } from '../parsed.js'
import type { Source } from '../source.js'

/** Whether an entry of `history` is one of Continue, which has its message in a field of its own. */
export function isContinueItem({ message }: JsonObject): boolean {
  return isJsonObject(message) && typeof message['role'] === 'string'
}

/** Sessions of Continue, `~/.continue/sessions/ID.json`: `{ sessionId, title, history: [{ message, contextItems }] }`. */
export function readContinue(source: Source): Reading {
  return { drafts: readHistory(source), suffixOf: () => null }
}

function* readHistory(source: Source): Generator<Draft> {
  const [file] = source.kind === 'object' ? source.entries() : []
  const history = file?.list('history') ?? null
  if (history === null) throw validationError('history', 'must be a list of messages', undefined)
  const answered = new Set<string>()
  let thinking: MessageDraft['thinking'] = []
  let index = 0
  for (const { place, value } of recordsIn(history, (at) => `history.${at}`)) {
    const message = objectField(value, 'message')
    if (message === undefined) throw validationError(place, 'must have a message', value['message'])
    if (message['role'] === 'thinking') {
      thinking = [...(thinking ?? []), thoughtOf(message)]
      continue
    }
    const toolCallId = textField(message, 'toolCallId')
    if (toolCallId !== undefined) answered.add(toolCallId)
    const draft = readOpenAiMessage({ place, value: openAiMessageOf(message) }, index++, new Map())
    const isReply = message['role'] === 'assistant'
    if (isReply && thinking.length > 0) draft.input.thinking = thinking
    if (isReply) thinking = []
    yield { thread: 0, message: draft }
    for (const result of outputsOf(place, value)) {
      if (answered.has(result.input.toolCallId ?? '')) continue
      answered.add(result.input.toolCallId ?? '')
      yield { thread: 0, message: result }
    }
  }
}

function thoughtOf(message: JsonObject): { text: string; signature?: string; redacted?: string } {
  const [signature, redacted] = [textField(message, 'signature'), textField(message, 'redactedThinking')]
  return {
    text: redacted === undefined ? (textOf(message['content']) ?? '') : '',
    ...(signature !== undefined && { signature }),
    ...(redacted !== undefined && { redacted }),
  }
}

/** The same message with the names of OpenAI's chat completions. */
function openAiMessageOf({ toolCalls, toolCallId, content, id: _, ...fields }: JsonObject): JsonObject {
  const parts = Array.isArray(content) ? content.map(openAiPartOf) : content
  return {
    ...fields,
    content: parts ?? '',
    ...(Array.isArray(toolCalls) && toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  }
}

function openAiPartOf(part: Json): Json {
  if (!isJsonObject(part) || part['type'] !== 'imageUrl') return part
  return { type: 'image_url', image_url: part['imageUrl'] ?? {} }
}

/** Outputs that newer sessions have beside the reply with the calls. */
function outputsOf(place: string, { toolCallStates, toolCallState }: JsonObject): DraftMessage[] {
  const states = Array.isArray(toolCallStates) ? toolCallStates : isJsonObject(toolCallState) ? [toolCallState] : []
  return states.flatMap((state) => {
    if (!isJsonObject(state) || !Array.isArray(state['output'])) return []
    const id = textField(state, 'toolCallId')
    if (id === undefined) return []
    const content = state['output'].flatMap((item) => (isJsonObject(item) ? (textField(item, 'content') ?? []) : []))
    const isError = state['status'] === 'errored' || state['status'] === 'canceled'
    const result = {
      role: 'tool_result' as const,
      content: content.join('\n'),
      toolCallId: id,
      ...(isError && { isError }),
    }
    return [{ place, identity: `result ${id}`, input: result }]
  })
}

function textOf(content: Json | undefined): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  return content.flatMap((part) => (isJsonObject(part) ? (textField(part, 'text') ?? []) : [])).join('\n')
}
