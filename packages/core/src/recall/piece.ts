import { sliceWhole } from '../tools/lines.js'

/** A run of characters of a content, exactly as they are. */
export interface ContentPiece {
  readonly text: string
  /** Offset of the next piece; null at the end. */
  readonly nextOffset: number | null
}

/**
 * Cuts a piece out of a content. Consecutive pieces by `nextOffset` make up the whole; no piece ends within a surrogate
 * pair, so each can be written as UTF-8.
 *
 * @param offset in UTF-16 units, as all lengths here; past the end the piece is empty
 * @param limit at least 1; a surrogate pair is returned whole if it is first
 */
export function cutPiece(content: string, offset: number, limit: number): ContentPiece {
  const rest = content.slice(offset, offset + limit + 1)
  const text = sliceWhole(rest, limit) || rest.slice(0, 2)
  const end = offset + text.length
  return { text, nextOffset: end < content.length ? end : null }
}
