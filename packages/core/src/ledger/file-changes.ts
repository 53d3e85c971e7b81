import type { Action } from '../extractive/calls.js'
import { countLines } from '../tools/lines.js'

/** A longer text of an edit is read in part only. */
const READ_CHARACTERS_MAX = 20_000
const CONTENT_FIELDS = ['content', 'contents', 'file_text', 'text', 'new_source']

/**
 * The lines of a file after an edit: those of the content that the call gives, or those known before and the difference.
 *
 * @returns null if the call does not say
 */
export function linesAfter({ use, fields, added, removed }: Action, before: number | null): number | null {
  if (use.writesWhole) {
    const content = CONTENT_FIELDS.map((field) => fields[field]).find((value) => typeof value === 'string')
    return content === undefined ? null : countLines(content)
  }
  const isInPart = added.length >= READ_CHARACTERS_MAX || removed.length >= READ_CHARACTERS_MAX
  if (before === null || use.paths.length > 1 || fields['replace_all'] === true || isInPart) return null
  if (removed === '') return null
  return Math.max(0, before + breaksIn(added) - breaksIn(removed))
}

function breaksIn(text: string): number {
  return text.split('\n').length - 1
}
