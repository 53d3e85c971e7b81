import { createHash } from 'node:crypto'
import { blocksOf } from './anthropic-rules.js'
import { type Fields, isFields, listOf } from './fields.js'

export type ProviderProtocol = 'anthropic' | 'openai-chat' | 'openai-responses'

/** A part of a request in the order in which the provider's model reads it. */
export interface RequestPart {
  /** Hash of this part and of all before it: two requests share a prefix as far as their chains are equal. */
  readonly chain: string
  readonly tokens: number
  /** The lifetime of a cache mark on it, in milliseconds; null without a mark. */
  readonly markMs: number | null
}

/** Anthropic counts an image as its area / 750, at most about this; the sizes of base64 images are not decoded here. */
const IMAGE_TOKENS = 1_500
const FIVE_MINUTES_MS = 300_000
const HOUR_MS = 3_600_000

/** Counts the tokens of a text. Parts repeat from request to request, so that a count by content is worth keeping. */
export type CountText = (text: string) => number

/** The parts of a request: tools, then the system prompt, then the messages or items. Marks are no content. */
export function requestParts(protocol: ProviderProtocol, body: Fields, count: CountText): RequestPart[] {
  const parts: RequestPart[] = []
  let chain = ''
  const add = (place: string, value: unknown, seed = '') => {
    const content = JSON.stringify(withoutMarks(value))
    chain = createHash('sha256').update(`${chain}\n${seed}${place} ${content}`).digest('base64url')
    parts.push({ chain, tokens: tokensOf(value, count), markMs: protocol === 'anthropic' ? markOf(value) : null })
  }
  for (const tool of listOf(body['tools'])) add('tool', tool)
  if (protocol === 'anthropic') {
    for (const block of blocksOf(body['system'] ?? [])) add('system', block)
    // These options are part of the prompt that the messages follow: a change of them is a change of the prefix.
    let seed = JSON.stringify([body['tool_choice'], body['thinking']])
    for (const { role, content } of listOf(body['messages'])) {
      for (const block of blocksOf(content)) {
        add(String(role), block, seed)
        seed = ''
      }
    }
    return parts
  }
  if (body['instructions'] !== undefined) add('system', body['instructions'])
  const { messages, input } = body
  const list =
    protocol === 'openai-chat' ? messages : typeof input === 'string' ? [{ role: 'user', content: input }] : input
  for (const entry of listOf(list)) add('message', entry)
  return parts
}

/** Tokens of parts that two requests share at their beginnings, and whether all parts of the first are shared. */
export function sharedPrefix(before: readonly RequestPart[], after: readonly RequestPart[]) {
  const end = before.findIndex(({ chain }, index) => after[index]?.chain !== chain)
  const shared = end < 0 ? before : before.slice(0, end)
  return { tokens: tokensIn(shared), isWhole: end < 0 }
}

export function tokensIn(parts: readonly RequestPart[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0)
}

/** Marks are fields of blocks and of the blocks in results; a field of a call's arguments with this name is content. */
function withoutMarks(value: unknown): unknown {
  if (!isFields(value)) return value
  const { cache_control: _mark, ...fields } = value
  return Array.isArray(fields['content']) ? { ...fields, content: fields['content'].map(withoutMarks) } : fields
}

function markOf(value: unknown): number | null {
  if (!isFields(value)) return null
  const { cache_control: mark, content } = value
  if (isFields(mark)) return mark['ttl'] === '1h' ? HOUR_MS : FIVE_MINUTES_MS
  return listOf(content).reduce<number | null>((found, part) => markOf(part) ?? found, null)
}

/** Texts and names as the model reads them. Media have a fixed size; signatures and data of opaque parts have theirs. */
function tokensOf(value: unknown, count: CountText): number {
  if (typeof value === 'string') return count(value)
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + tokensOf(entry, count), 0)
  if (!isFields(value)) return 0
  const { type, text, thinking, content, input, output, name } = value
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return tokensOf(text, count)
    case 'thinking':
      return tokensOf(thinking, count)
    case 'image':
    case 'document':
    case 'image_url':
    case 'input_image':
    case 'input_file':
      return IMAGE_TOKENS
    case 'tool_use':
      return tokensOf(name, count) + count(JSON.stringify(input))
    case 'tool_result':
      return tokensOf(content, count)
    case 'function_call_output':
      return tokensOf(output, count)
    case 'reasoning':
      return tokensOf(value['summary'], count)
    default:
      return value['role'] === undefined
        ? count(JSON.stringify(withoutMarks(value)))
        : tokensOf(content, count) +
            listOf(value['tool_calls']).reduce((sum, call) => sum + count(JSON.stringify(call['function'])), 0)
  }
}
