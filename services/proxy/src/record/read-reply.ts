import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { JsonObject } from '@heddle/contracts'
import { dataIn, type Protocol } from '@heddle/core'
import { messageInAnthropicStream } from './anthropic-stream.js'
import { completionInChatStream } from './chat-stream.js'
import { isObject } from './json-fields.js'

export interface ReplyBytes {
  readonly bytes: Buffer
  readonly contentType: string
  /** How the bytes are compressed; empty if they are not. */
  readonly encoding: string
}

/** Most bytes that a compressed reply may become. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024

const decoders: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}

/** The whole reply in the form that messages are read from, streamed or not; null if it is incomplete or not understood. */
export async function readReply(protocol: Protocol, reply: ReplyBytes): Promise<JsonObject | null> {
  try {
    const bytes = await decoded(reply)
    if (bytes === null) return null
    if (!/text\/event-stream/i.test(reply.contentType)) return objectIn(bytes.toString())
    return assembled(protocol, objectsIn(bytes))
  } catch {
    return null
  }
}

async function decoded({ bytes, encoding }: ReplyBytes): Promise<Buffer | null> {
  if (encoding === '' || encoding === 'identity') return bytes
  const decode = decoders[encoding.toLowerCase()]
  return decode === undefined ? null : await decode(bytes, { maxOutputLength: REPLY_BYTES_MAX })
}

function* objectsIn(stream: Buffer): Generator<JsonObject> {
  for (const data of dataIn(stream)) {
    const event = data === '[DONE]' ? null : objectIn(data)
    if (event !== null) yield event
  }
}

function assembled(protocol: Protocol, events: Iterable<JsonObject>): JsonObject | null {
  switch (protocol) {
    case 'anthropic':
      return messageInAnthropicStream(events)
    case 'openai-chat':
      return completionInChatStream(events)
    case 'openai-responses':
      return responseInStream(events)
  }
}

/** The last event has the whole response. */
function responseInStream(events: Iterable<JsonObject>): JsonObject | null {
  for (const { type, response } of events) {
    if ((type === 'response.completed' || type === 'response.incomplete') && isObject(response)) return response
  }
  return null
}

function objectIn(text: string): JsonObject | null {
  const value: unknown = JSON.parse(text)
  return isObject(value) ? value : null
}
