import { blocksField, type FlatContent, flattenContent, partsField } from './content.js'
import { isJsonObject, type Json, type JsonObject, metadataField, textField } from './json.js'
import type { MessageDraft } from './message-draft.js'
import type { FormMessage } from './reading.js'

interface PlacedItem {
  readonly entry: number
  readonly item: JsonObject
}

type ToolCall = NonNullable<MessageDraft['toolCalls']>[number]

/**
 * Messages from consecutive items. A model's reply is several items: its reasoning, its text, and each of its calls.
 * They are joined into one message.
 *
 * @param isOneReply whether all items of the model belong to one reply, even with several texts
 */
export function readItems(items: readonly PlacedItem[], { isOneReply = false } = {}): FormMessage[] {
  const messages: FormMessage[] = []
  let reply: Reply | null = null
  const finish = () => {
    if (reply !== null) messages.push(reply.message())
    reply = null
  }
  for (const { entry, item } of items) {
    const other = readRequestItem(item)
    if (other !== null) {
      finish()
      messages.push({ entry, sourceId: textField(item, 'id'), input: other })
      continue
    }
    if (!isOneReply && reply?.endsBefore(item)) finish()
    reply ??= new Reply(entry)
    reply.add(item)
  }
  finish()
  return messages
}

/** An item that is not from a model: messages of others, and results of calls. Null for items of a model. */
function readRequestItem(item: JsonObject): MessageDraft | null {
  const { role, output } = item
  const type = typeOf(item)
  if (type === 'message' && role !== 'assistant') {
    const flat = flattenContent('content', item['content'])
    const isDeveloper = role === 'developer'
    return {
      role: role === 'user' ? 'user' : 'system',
      content: flat.text,
      ...partsField(flat),
      ...metadataField(blocksField(flat), isDeveloper ? { role: 'developer' } : {}),
    }
  }
  const toolCallId = textField(item, 'call_id') ?? textField(item, 'id')
  if (!type.endsWith('_output') || toolCallId === undefined) return null
  const flat = flattenContent('output', outputOf(output ?? null))
  return {
    role: 'tool_result',
    content: flat.text,
    toolCallId,
    ...partsField(flat),
    ...metadataField(blocksField(flat)),
  }
}

/** Most tools return a text or typed parts; other outputs are kept as JSON, which a model can read. */
function outputOf(output: Json): Json[] {
  const parts = Array.isArray(output) ? output : [output ?? '']
  return parts.every(
    (part) => typeof part === 'string' || (isJsonObject(part) && textField(part, 'type') !== undefined),
  )
    ? parts
    : [JSON.stringify(output)]
}

/** A message may have no type. */
function typeOf(item: JsonObject): string {
  return textField(item, 'type') ?? 'message'
}

/** Separates the texts of one reply. */
const SEPARATOR = '\n\n'

/** Collects a model's reply, item by item. */
class Reply {
  readonly #entry: number
  readonly #texts: string[] = []
  readonly #thinking: NonNullable<MessageDraft['thinking']> = []
  readonly #calls: ToolCall[] = []
  readonly #parts: FlatContent['parts'] = []
  readonly #blocks: Json[] = []
  /** Encrypted reasoning, which only the server that made it can read. */
  readonly #encrypted: JsonObject[] = []
  #id: string | undefined
  #isRefusal = false

  constructor(entry: number) {
    this.#entry = entry
  }

  /** Two consecutive texts are two replies, unless calls between them wait for their results. */
  endsBefore(item: JsonObject): boolean {
    return typeOf(item) === 'message' && this.#texts.length > 0 && this.#calls.length === 0
  }

  add(item: JsonObject): void {
    const type = typeOf(item)
    if (type === 'message') this.#say(item)
    else if (type === 'reasoning') this.#think(item)
    else {
      const call = callOf(item, type)
      if (call === null) this.#texts.push(...this.#flatten([item]))
      else this.#calls.push(call)
    }
    // A reply is known in chats and logs by the id of its message.
    if (type === 'message' || this.#id === undefined) this.#id = textField(item, 'id') ?? this.#id
  }

  message(): FormMessage {
    return {
      entry: this.#entry,
      sourceId: this.#id,
      input: {
        role: 'assistant',
        content: this.#content(),
        ...(this.#thinking.length > 0 && { thinking: this.#thinking }),
        ...(this.#calls.length > 0 && { toolCalls: this.#calls }),
        ...partsField({ parts: this.#parts }),
        ...metadataField(
          blocksField({ blocks: this.#blocks }),
          this.#encrypted.length > 0 ? { reasoning: this.#encrypted } : {},
          this.#isRefusal ? { refusal: true } : {},
        ),
      },
    }
  }

  #say({ content }: JsonObject): void {
    const parts = Array.isArray(content) ? content : [content ?? '']
    this.#isRefusal ||= parts.some((part) => isJsonObject(part) && part['type'] === 'refusal')
    this.#texts.push(...this.#flatten(parts))
  }

  #think(item: JsonObject): void {
    const { summary, content, encrypted_content: encrypted } = item
    const texts = [summary, content].flatMap((list) => (Array.isArray(list) ? list : []))
    const text = texts.flatMap((part) => (isJsonObject(part) ? [textField(part, 'text') ?? ''] : [])).join('\n\n')
    // Without a signature: OpenAI's encrypted content is not a signature for other providers.
    if (text !== '') this.#thinking.push({ text })
    if (typeof encrypted === 'string') this.#encrypted.push({ id: item['id'] ?? null, encrypted_content: encrypted })
  }

  #content(): string {
    return this.#texts.filter((text) => text !== '').join(SEPARATOR)
  }

  #flatten(given: Json[]): string[] {
    const { text, blocks, parts } = flattenContent('content', given)
    const before = this.#content().length
    const from = before > 0 && text !== '' ? before + SEPARATOR.length : before
    this.#parts.push(...parts.map(({ offset = 0, ...part }) => ({ ...part, offset: from + offset })))
    this.#blocks.push(...blocks)
    return [text]
  }
}

/** A call that the caller must answer; null for one that the provider's server executed. */
function callOf(item: JsonObject, type: string): ToolCall | null {
  const id = textField(item, 'call_id')
  if (id === undefined || !type.endsWith('_call')) return null
  const { arguments: given, input, action, operation } = item
  const name = textField(item, 'name') ?? type.replace(/_call$/, '')
  const value = given ?? input ?? action ?? operation ?? null
  if (value === null) return { id, name, arguments: {} }
  return { id, name, arguments: typeof value === 'string' || isJsonObject(value) ? value : JSON.stringify(value) }
}
