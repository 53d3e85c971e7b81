import type { Json, JsonObject, MessageDraft } from '@heddle/client/forms'
import { flattenContent, isJsonObject, textField } from '@heddle/client/forms'
import { limits } from '@heddle/contracts'
import type { AgentInputItem } from '@openai/agents-core'

/** A message of the thread, with the items that it was made of. */
export interface Drafted {
  readonly draft: MessageDraft
  readonly items: readonly AgentInputItem[]
}

/** Kinds of items that are results, with the kind of call that each answers. */
export const RESULT_TYPES: Readonly<Record<string, string>> = {
  function_call_result: 'function_call',
  computer_call_result: 'computer_call',
  shell_call_output: 'shell_call',
  apply_patch_call_output: 'apply_patch_call',
  tool_search_output: 'tool_search_call',
  program_output: 'program',
}
const CALL_TYPES = new Set(Object.values(RESULT_TYPES))

/** Calls and results other than those of functions: they are sent as they were given, or as text. */
export const isOpaque = ({ type }: { readonly type?: unknown }) =>
  type !== 'function_call' && type !== 'function_call_result'

export function callIdOf(item: object): string | undefined {
  const record = item as JsonObject
  return textField(record, 'callId') ?? textField(record, 'call_id')
}

/**
 * Messages from consecutive items. The items of one reply, such as its reasoning and its calls, are one message: a
 * provider wants them back together or not at all.
 */
export function draftsOf(items: readonly AgentInputItem[]): Drafted[] {
  const drafts: Drafted[] = []
  let reply: AgentInputItem[] = []
  const finish = () => {
    if (reply.length > 0) drafts.push({ draft: replyDraft(reply), items: reply })
    reply = []
  }
  for (const item of items) {
    const alone = requestDraft(item)
    if (alone !== null) {
      finish()
      drafts.push({ draft: alone, items: [item] })
      continue
    }
    if (startsReply(item, reply)) finish()
    reply.push(item)
  }
  finish()
  return drafts
}

/** Reasoning belongs to the item after it; a text after a text or a call is another reply. */
function startsReply(item: AgentInputItem, reply: readonly AgentInputItem[]): boolean {
  if (reply.length >= limits.toolCallsMax) return true
  const leads = kindOf(item) === 'reasoning' || kindOf(item) === 'message'
  return leads && reply.some((each) => kindOf(each) !== 'reasoning')
}

const kindOf = (item: AgentInputItem): string => textField(item as JsonObject, 'type') ?? 'message'

/** The message of an item that is not a part of a reply, or null. */
function requestDraft(given: AgentInputItem): MessageDraft | null {
  const item = given as JsonObject
  const kind = kindOf(given)
  if (kind === 'compaction') return { role: 'assistant', content: JSON.stringify(item), pinned: true }
  if (kind === 'message' && item['role'] !== 'assistant') {
    const { text, parts } = flattenContent('content', blocksOf(item['content']))
    return { role: item['role'] === 'user' ? 'user' : 'system', content: text, ...(parts.length > 0 && { parts }) }
  }
  const toolCallId = callIdOf(given)
  if (RESULT_TYPES[kind] === undefined || toolCallId === undefined) return null
  const { text, parts } = flattenContent('output', blocksOf(item['output'] ?? item['tools'] ?? item['result']))
  return { role: 'tool_result', content: text, toolCallId, ...(parts.length > 0 && { parts }) }
}

function replyDraft(items: readonly AgentInputItem[]): MessageDraft {
  const texts: string[] = []
  const thinking: { text: string }[] = []
  const toolCalls: NonNullable<MessageDraft['toolCalls']> = []
  for (const given of items) {
    const item = given as JsonObject
    const id = callIdOf(given)
    const kind = kindOf(given)
    if (kind === 'message') texts.push(flattenContent('content', blocksOf(item['content'])).text)
    else if (kind === 'reasoning') thinking.push(...reasoningOf(item))
    else if (CALL_TYPES.has(kind) && id !== undefined) toolCalls.push(callOf(item, kind, id))
    else texts.push(JSON.stringify(item))
  }
  return {
    role: 'assistant',
    content: texts.filter((text) => text !== '').join('\n\n'),
    ...(thinking.length > 0 && { thinking }),
    ...(toolCalls.length > 0 && { toolCalls }),
  }
}

/** Without its encrypted content, which is no signature for other providers. */
function reasoningOf({ content, rawContent }: JsonObject): { text: string }[] {
  const blocks = [rawContent, content].find((each) => Array.isArray(each) && each.length > 0) ?? []
  const text = flattenContent('content', blocksOf(blocks)).text
  return text === '' ? [] : [{ text }]
}

function callOf(item: JsonObject, kind: string, id: string): NonNullable<MessageDraft['toolCalls']>[number] {
  if (kind !== 'function_call') {
    const { type: _, id: __, callId: ___, status: ____, providerData: _____, ...given } = item
    return { id, name: kind.replace(/_call$/, ''), arguments: given }
  }
  const given = item['arguments']
  const name = textField(item, 'name') ?? 'function'
  if (typeof given === 'string' || isJsonObject(given)) return { id, name, arguments: given }
  return { id, name, arguments: JSON.stringify(given ?? {}) }
}

/** The blocks of a content in the form of OpenAI's responses, which the client reads. */
function blocksOf(content: Json | undefined): Json {
  if (content === undefined || content === null || typeof content === 'string') return content ?? ''
  const blocks = Array.isArray(content) ? content : [content]
  return blocks.map((block) => (isJsonObject(block) ? readableBlock(block) : JSON.stringify(block)))
}

function readableBlock(block: JsonObject): Json {
  const { type, image, file, data, text, stdout, stderr, refusal } = block
  if (typeof text === 'string') return { type: 'text', text }
  if (typeof refusal === 'string') return block
  if (typeof stdout === 'string') return [stdout, stderr].filter((each) => each !== '').join('\n')
  if (type === 'input_image' || type === 'image' || type === 'computer_screenshot') {
    const given = image ?? data
    if (isJsonObject(given) && typeof given['id'] === 'string') return { type: 'input_image', file_id: given['id'] }
    const url = isJsonObject(given) ? dataUrlOf(given, 'image/png') : given
    return { type: 'input_image', image_url: url ?? '', detail: 'auto' }
  }
  if (type !== 'input_file' && type !== 'file') return JSON.stringify(block)
  const name = { filename: textField(block, 'filename') ?? 'file' }
  if (typeof file === 'string') return { type: 'input_file', file_data: file, ...name }
  if (!isJsonObject(file)) return JSON.stringify(block)
  if (typeof file['url'] === 'string') return { type: 'input_file', file_url: file['url'] }
  if (typeof file['id'] === 'string') return { type: 'input_file', file_id: file['id'] }
  return { type: 'input_file', file_data: dataUrlOf(file, 'application/pdf') ?? '', ...name }
}

function dataUrlOf({ data, mediaType, url }: JsonObject, fallback: string): string | undefined {
  if (typeof url === 'string') return url
  if (typeof data !== 'string') return undefined
  const type = typeof mediaType === 'string' ? mediaType : fallback
  return data.startsWith('data:') ? data : `data:${type};base64,${data}`
}
