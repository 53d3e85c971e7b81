import type { DraftMessage, MessageDraft, SourceRecord } from '@heddle/client/forms'
import {
  blocksField,
  flattenContent,
  isJsonObject,
  type JsonObject,
  metadataField,
  otherFields,
  readThinking,
  readToolCalls,
  textField,
} from '@heddle/client/forms'
import { validationError } from '@heddle/contracts'
import { recordsIn } from './conversations.js'
import type { Draft, Reading } from './parsed.js'
import type { Source } from './source.js'

const KNOWN_FIELDS = new Set([
  'role',
  'content',
  'tool_calls',
  'tool_call_ids',
  'thinking_blocks',
  'cache_control',
  'agent',
  'message_type',
  'thought',
  'action',
])
/** The default `message_type` of each role. */
const USUAL_TYPES: Readonly<Record<string, string>> = {
  system: 'system_prompt',
  user: 'observation',
  assistant: 'action',
  tool: 'observation',
}

/** Trajectories of SWE-agent: the messages are its `history`. */
export function readSweAgent(source: Source): Reading {
  return { drafts: readHistory(source), suffixOf: () => null }
}

function* readHistory(source: Source): Generator<Draft> {
  const [file] = source.kind === 'list' ? [] : source.entries()
  const history = file?.list('history') ?? null
  if (history === null) {
    const received = isJsonObject(file?.value) ? file.value['history'] : undefined
    throw validationError('history', 'must be a list of messages', received)
  }
  const open: string[] = []
  for (const record of recordsIn(history, (index) => `history.${index}`))
    yield { thread: 0, message: readMessage(record, open) }
}

/** @param open ids of calls so far that no result names, oldest first */
function readMessage({ place, value }: SourceRecord, open: string[]): DraftMessage {
  const { role } = value
  const flat = flattenContent(place, value['content'])
  const metadata = metadataField(blocksField(flat), extrasOf(value, flat.text))
  const said = { content: flat.text, ...metadata }
  if (role === 'system' || role === 'user') return { place, input: { role, ...said } }
  if (role === 'assistant') {
    const toolCalls = readToolCalls(place, value['tool_calls'])
    open.push(...toolCalls.map((call) => call.id))
    return {
      place,
      input: { role, ...said, ...thinkingOf(value), ...(toolCalls.length > 0 && { toolCalls }) },
    }
  }
  if (role !== 'tool') throw validationError(place, 'role must be system, user, assistant or tool', role)
  const [toolCallId, ...furtherIds] = answeredIds(value, open)
  if (toolCallId === undefined)
    throw validationError(place, 'a tool message must name the call that it answers', undefined)
  for (const id of [toolCallId, ...furtherIds]) if (open.includes(id)) open.splice(open.indexOf(id), 1)
  // One observation may answer several calls: it becomes the result of the first.
  const further: JsonObject = furtherIds.length > 0 ? { toolCallIds: [toolCallId, ...furtherIds] } : {}
  return {
    place,
    input: { role: 'tool_result', ...said, toolCallId, ...metadataField(metadata.metadata ?? {}, further) },
  }
}

function answeredIds(value: JsonObject, open: readonly string[]): string[] {
  const ids = value['tool_call_ids']
  const named = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
  return named.length > 0 ? named : open.slice(0, 1)
}

function thinkingOf(value: JsonObject): Pick<MessageDraft, 'thinking'> {
  const blocks = value['thinking_blocks']
  const thinking = Array.isArray(blocks) ? blocks.flatMap((block) => readThinking(block) ?? []) : []
  return thinking.length > 0 ? { thinking } : {}
}

/** Extra information in the other fields: `thought` usually repeats the content, and `action` the calls. */
function extrasOf(value: JsonObject, content: string): JsonObject {
  const { agent, message_type: type, role } = value
  const thought = textField(value, 'thought')
  const action = textField(value, 'action')
  const hasCalls = Array.isArray(value['tool_calls']) && value['tool_calls'].length > 0
  return {
    ...(typeof agent === 'string' && agent !== 'main' && { agent }),
    ...(typeof type === 'string' && type !== USUAL_TYPES[String(role)] && { messageType: type }),
    ...(thought !== undefined && !content.includes(thought.trim()) && { thought }),
    ...(action !== undefined && !hasCalls && !content.includes(action.trim()) && { action }),
    ...otherFields(value, KNOWN_FIELDS),
  }
}
