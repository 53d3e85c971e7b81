import type { JsonObject } from '@heddle/contracts'
import { entriesIn, fieldsIn, JsonFault, jsonBytesOf, LIST, parseAt, type Span } from '../json/spans.js'

/**
 * Items of OpenAI's `POST /responses/compact` that Heddle makes for upstreams without it. The protocol has the compacted history
 * as an opaque text which only its maker reads: the proxy puts the history in its place before an upstream gets the request.
 * It is encoded and not encrypted, so that any proxy can read it, also without a store.
 */
const PREFIX = 'heddle-compaction-1.'
/** First words of the history in a request, by which it is not stored as something that the user said. */
export const COMPACTED = '[The conversation until now, compacted by Heddle. All of it is stored.]'

export interface OwnCompaction {
  /** The thread of the conversation, for clients that do not name it. */
  readonly thread: string
  /** The history. */
  readonly text: string
}

export interface CompactionReply extends OwnCompaction {
  /** Unique; letters and digits. */
  readonly id: string
  readonly atSeconds: number
  /** Items of the request by the user. */
  readonly said: readonly JsonObject[]
  /** Estimated. */
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The answer of `POST /responses/compact`: the messages of the user, and an item in place of everything. */
export function compactionReply({ id, atSeconds, said, thread, text, ...tokens }: CompactionReply): JsonObject {
  const { inputTokens, outputTokens } = tokens
  const content = Buffer.from(JSON.stringify({ thread, text })).toString('base64url')
  return {
    id: `resp_${id}`,
    object: 'response.compaction',
    created_at: atSeconds,
    output: [
      ...said.map((item, index) => messageOf(item, `msg_${id}${index}`)),
      { id: `cmp_${id}`, type: 'compaction', encrypted_content: `${PREFIX}${content}` },
    ],
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    },
  }
}

function messageOf({ content = '' }: JsonObject, id: string): JsonObject {
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content
  return { id, type: 'message', role: 'user', status: 'completed', content: parts }
}

/** A request in which items of own compactions are messages again. */
export interface ExpandedRequest {
  /** The body itself if it has no such item. */
  readonly body: Buffer
  /** The thread that the last item names; null without one. */
  readonly thread: string | null
}

/** Puts the histories in place of the items of own compactions in a request to `/responses`; one that is not JSON stays as it is. */
export function expandCompactions(body: Buffer): ExpandedRequest {
  if (!body.includes(PREFIX)) return { body, thread: null }
  try {
    return expanded(body)
  } catch (error) {
    // A RangeError: nested too deeply to be read.
    if (error instanceof JsonFault || error instanceof SyntaxError || error instanceof RangeError) {
      return { body, thread: null }
    }
    throw error
  }
}

function expanded(body: Buffer): ExpandedRequest {
  const bytes = jsonBytesOf(body)
  const parts: Buffer[] = []
  let place = 0
  let thread: string | null = null
  for (const { from, to } of inputOf(body)) {
    const own = ownCompactionIn(parseAt(body, { from, to }))
    if (own === null) continue
    const text = `${COMPACTED}\n\n${own.text}`
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
    parts.push(body.subarray(place, from), Buffer.from(JSON.stringify(item)))
    place = to
    thread = own.thread
  }
  return { body: place === 0 ? body : Buffer.concat([...parts, body.subarray(place)]), thread }

  function* inputOf(of: Buffer): Generator<Span> {
    for (const { name, value } of fieldsIn(bytes, { from: of.indexOf(0x7b), to: of.lastIndexOf(0x7d) + 1 })) {
      if (parseAt(of, name) === 'input' && of[value.from] === LIST) yield* entriesIn(bytes, value)
    }
  }
}

function ownCompactionIn(value: unknown): OwnCompaction | null {
  const { type, encrypted_content: content } = (value ?? {}) as { type?: unknown; encrypted_content?: unknown }
  if (type !== 'compaction' || typeof content !== 'string' || !content.startsWith(PREFIX)) return null
  try {
    const read: unknown = JSON.parse(Buffer.from(content.slice(PREFIX.length), 'base64url').toString())
    const { thread, text } = (read ?? {}) as { thread?: unknown; text?: unknown }
    return typeof thread === 'string' && typeof text === 'string' ? { thread, text } : null
  } catch {
    return null
  }
}
