import { createHash } from 'node:crypto'
import { CHUNK_CHARACTERS_MAX, type Chunk, chunkText, ineligibleReason, type Message } from '@heddle/core'
import { MESSAGE_CHUNKS_MAX, RESULT_CHUNKS_MAX } from './limits.js'

/** A message that is to be found by its meaning. */
export interface Source {
  readonly messageId: string
  readonly contentHash: Uint8Array
  readonly chunks: readonly Chunk[]
}

/** What of a message is embedded, or null where it holds nothing to be found by its meaning. */
export function sourceOf(message: Message): Source | null {
  const chunksMax = chunksMaxOf(message)
  const text = message.content.slice(0, chunksMax * CHUNK_CHARACTERS_MAX)
  const chunks = chunkText(text).slice(0, chunksMax)
  return chunks.length === 0 ? null : { messageId: message.id, contentHash: hashOf(text), chunks }
}

function chunksMaxOf(message: Message): number {
  if (ineligibleReason(message) !== null) return 0
  if (message.role === 'tool_result') return RESULT_CHUNKS_MAX
  return message.role === 'system' ? 0 : MESSAGE_CHUNKS_MAX
}

/** Those of the sources that were not yet embedded from the same text. */
export function changedSources(sources: readonly Source[], known: ReadonlyMap<string, Uint8Array>): Source[] {
  return sources.filter(({ messageId, contentHash }) => {
    const before = known.get(messageId)
    return before === undefined || Buffer.compare(before, contentHash) !== 0
  })
}

function hashOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest().subarray(0, 16)
}
