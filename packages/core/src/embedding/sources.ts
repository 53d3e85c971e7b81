import { ineligibleReason } from '../conversation/eligibility.js'
import type { Message } from '../conversation/message.js'
import type { Pausable } from '../recall/steps.js'
import { CHUNK_CHARACTERS_MAX, type Chunk, chunkText } from '../tokens/chunking.js'

/** Chunks of one user or assistant message: about 40,000 characters. The rest is found by words only. */
export const MESSAGE_CHUNKS_MAX = 100

/** Chunks of one tool result: its beginning identifies it; the rest of a file or log is found by words only. */
export const RESULT_CHUNKS_MAX = 4

/** The characters of a message that are embedded at most. */
export const EMBEDDED_CHARACTERS_MAX = MESSAGE_CHUNKS_MAX * CHUNK_CHARACTERS_MAX

/** The parts of a message that decide what is embedded. */
export type SourceMessage = Pick<Message, 'seq' | 'role' | 'content' | 'keptAside'>

/** A message to be embedded. */
export interface Source {
  readonly seq: number
  readonly chunks: readonly Chunk[]
}

/** The text of a message to embed, or null if there is no text. */
export function sourceOf(message: SourceMessage): Source | null {
  const chunksMax = chunksMaxOf(message)
  const text = message.content.slice(0, chunksMax * CHUNK_CHARACTERS_MAX)
  const chunks = chunkText(text).slice(0, chunksMax)
  return chunks.length === 0 ? null : { seq: message.seq, chunks }
}

/** The texts of messages to embed, with a pause after each message. */
export function* sourcesOf(messages: readonly SourceMessage[]): Pausable<Source[]> {
  const sources: Source[] = []
  for (const message of messages) {
    const source = sourceOf(message)
    if (source !== null) sources.push(source)
    yield
  }
  return sources
}

function chunksMaxOf(message: SourceMessage): number {
  if (ineligibleReason(message) !== null && message.keptAside !== 'iteration') return 0
  if (message.role === 'tool_result') return RESULT_CHUNKS_MAX
  return message.role === 'system' ? 0 : MESSAGE_CHUNKS_MAX
}
