import { sliceWhole } from '../tools/lines.js'

/** A run of characters of a content, exactly as they are. */
export interface ContentPiece {
  readonly text: string
  /** Where the next piece begins; null at the end. */
  readonly nextOffset: number | null
}

/**
 * Cuts a piece out of a content. Pieces that follow each other by `nextOffset` make up the whole; none ends within a character of
 * two units, so each can be written as UTF-8.
 *
 * @param offset in units of UTF-16 as all lengths here; past the end the piece is empty
 * @param limit at least 1; a character of two units comes whole where it is the first
 */
export function cutPiece(content: string, offset: number, limit: number): ContentPiece {
  const rest = content.slice(offset, offset + limit + 1)
  const text = sliceWhole(rest, limit) || rest.slice(0, 2)
  const end = offset + text.length
  return { text, nextOffset: end < content.length ? end : null }
}
