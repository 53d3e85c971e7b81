import { holdsLongText, textPieces } from '@heddle/contracts'
import type { Pausable } from '@heddle/core'
import { escapeElement, type Spelled } from './arrays.js'
import { isStorable } from './text.js'

/** A content as an element of a Postgres array literal. */
export interface ContentElement extends Spelled {
  /** Whether it is stored as JSON, because a Postgres text cannot hold it. */
  readonly isEscaped: boolean
}

export function contentElement(content: string): { readonly value: string; readonly isEscaped: boolean } {
  const isEscaped = !isStorable(content)
  return { value: isEscaped ? JSON.stringify(content) : content, isEscaped }
}

/**
 * The element of a long content, with pauses: four million quotes or NUL characters take half a second to escape, and the
 * transaction that stores them locks its thread. Null for a short content.
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
