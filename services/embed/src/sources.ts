import {
  CHUNK_CHARACTERS_MAX,
  type Chunk,
  chunkText,
  ineligibleReason,
  type Message,
  type Pausable,
} from '@heddle/core'
import { MESSAGE_CHUNKS_MAX, RESULT_CHUNKS_MAX } from './limits.js'

/** A message to be embedded. */
export interface Source {
  readonly seq: number
  readonly chunks: readonly Chunk[]
}

/** The text of a message to embed, or null if it has none. */
export function sourceOf(message: Message): Source | null {
  const chunksMax = chunksMaxOf(message)
  const text = message.content.slice(0, chunksMax * CHUNK_CHARACTERS_MAX)
  const chunks = chunkText(text).slice(0, chunksMax)
  return chunks.length === 0 ? null : { seq: message.seq, chunks }
}

/** The texts of messages to embed, with a pause after each message. */
export function* sourcesOf(messages: readonly Message[]): Pausable<Source[]> {
  const sources: Source[] = []
  for (const message of messages) {
    const source = sourceOf(message)
    if (source !== null) sources.push(source)
    yield
  }
  return sources
}

function chunksMaxOf(message: Message): number {
  if (ineligibleReason(message) !== null) return 0
  if (message.role === 'tool_result') return RESULT_CHUNKS_MAX
  return message.role === 'system' ? 0 : MESSAGE_CHUNKS_MAX
}
