import { validationError } from '@heddle/contracts'
import type { Steps } from './steps.js'

/** A run of whole lines of a content, to the byte, without the newline that ends the last one. */
export interface LineSelection {
  readonly text: string
  /** From 1, both ends included; `to` is the last line that there is where more were asked for. */
  readonly from: number
  readonly to: number
  readonly linesTotal: number
}

const NEWLINE = 10

/** Characters that are looked at between two pauses. */
const CHARACTERS_BETWEEN_PAUSES = 512 * 1024

/**
 * Cuts lines out of a content, in one pass over it.
 *
 * @param range `10-50`, `L10-50` or `10`; null is all of it
 * @throws PermanentError `VALIDATION_ERROR` for another form, or where the content ends before the first line
 */
export function* selectLines(content: string, range: string | null): Steps<LineSelection> {
  const { from, to } = range === null ? { from: 1, to: Number.POSITIVE_INFINITY } : parseRange(range)
  let line = 1
  let start = from === 1 ? 0 : -1
  let end = -1
  for (let at = 0; at < content.length; ) {
    const pauseAt = Math.min(at + CHARACTERS_BETWEEN_PAUSES, content.length)
    for (; at < pauseAt; at++) {
      if (content.charCodeAt(at) !== NEWLINE) continue
      if (line === to) end = at
      line++
      if (line === from) start = at + 1
    }
    yield
  }
  // A final newline ends the last line and begins no other.
  const linesTotal = content === '' ? 0 : content.charCodeAt(content.length - 1) === NEWLINE ? line - 1 : line
  if (range !== null && from > linesTotal) {
    throw validationError('lines', `must begin within the content's ${linesTotal} lines`, range)
  }
  const text = content.slice(start, end === -1 ? content.length : end)
  const isCutOpen = range !== null && end === -1 && text.endsWith('\n')
  return { text: isCutOpen ? text.slice(0, -1) : text, from, to: Math.min(to, linesTotal), linesTotal }
}

function parseRange(range: string): { from: number; to: number } {
  const written = /^\s*L?(\d{1,9})(?:\s*-\s*L?(\d{1,9}))?\s*$/i.exec(range)
  const from = Number(written?.[1])
  const to = Number(written?.[2] ?? written?.[1])
  if (written && from >= 1 && to >= from) return { from, to }
  const rule = 'must be a range of lines such as 10-50: a first and a last line from 1 to 999999999'
  throw validationError('lines', rule, range, 'give a first line, and a last one that is not before it')
}
