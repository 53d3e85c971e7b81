import { holdsLongText, textPieces } from '@heddle/contracts'
import type { Pausable } from '@heddle/core'
import { escapeElement, type Spelled } from './arrays.js'
import { isStorable } from './text.js'

/** A content as an element of a list in Postgres' own spelling. */
export interface ContentElement extends Spelled {
  /** Whether it is kept as JSON, since a text of Postgres cannot hold it. */
  readonly isEscaped: boolean
}

export function contentElement(content: string): { readonly value: string; readonly isEscaped: boolean } {
  const isEscaped = !isStorable(content)
  return { value: isEscaped ? JSON.stringify(content) : content, isEscaped }
}

/**
 * The element of a long content, with pauses: four million quotes or NUL characters take half a second to spell, and the
 * transaction that stores them holds its thread. Null for a content that takes no time.
 */
export function* contentElementSteps(content: string): Pausable<ContentElement | null> {
  if (!holdsLongText(content)) return null
  const isEscaped = !isStorable(content)
  const quote = isEscaped ? '\\"' : ''
  let spelled = `"${quote}`
  for (const piece of textPieces(content)) {
    spelled += escapeElement(isEscaped ? JSON.stringify(piece).slice(1, -1) : piece)
    yield
  }
  return { spelled: `${spelled}${quote}"`, isEscaped }
}
