import { validationError } from '@heddle/contracts'
import type { Pausable } from './steps.js'

/** A run of whole lines of a content, byte for byte, without the newline that ends the last one. */
export interface LineSelection {
  readonly text: string
  /** From 1, both ends included; `to` is the last existing line if more were requested. */
  readonly from: number
  readonly to: number
  readonly linesTotal: number
}

/** Finding the end of a line takes almost no time, however long it is. */
const LINES_BETWEEN_PAUSES = 20_000

/**
 * Selects lines of a content, in one pass over it.
 *
 * @param range `10-50`, `L10-50` or `10`; null selects all
 * @param part if `content` is a part of the whole: how many lines end before it, and how many there are in total
 * @throws PermanentError `VALIDATION_ERROR` for another form, or if the content ends before the first line
 */
export function* selectLines(
  content: string,
  range: string | null,
  part: { readonly linesBefore: number; readonly linesTotal: number } | null = null,
): Pausable<LineSelection> {
  const { from, to } = range === null ? { from: 1, to: Number.POSITIVE_INFINITY } : parseLineRange(range)
  let line = 1 + (part?.linesBefore ?? 0)
  let start = from === line ? 0 : -1
  let end = -1
  for (let at = content.indexOf('\n'); at !== -1; at = content.indexOf('\n', at + 1)) {
    if (line === to) end = at
    line++
    if (line === from) start = at + 1
    if (line % LINES_BETWEEN_PAUSES === 0) yield
  }
  // A final newline ends the last line and starts no other.
  const linesTotal = part?.linesTotal ?? (content === '' ? 0 : content.endsWith('\n') ? line - 1 : line)
  if (range !== null && from > linesTotal) {
    throw validationError('lines', `must begin within the content's ${linesTotal} lines`, range)
  }
  const text = content.slice(start, end === -1 ? content.length : end)
  const isCutOpen = range !== null && end === -1 && text.endsWith('\n')
  return { text: isCutOpen ? text.slice(0, -1) : text, from, to: Math.min(to, linesTotal), linesTotal }
}

/** @throws PermanentError `VALIDATION_ERROR` if it is not a range */
export function parseLineRange(range: string): { from: number; to: number } {
  const written = /^\s*L?(\d{1,9})(?:\s*-\s*L?(\d{1,9}))?\s*$/i.exec(range)
  const from = Number(written?.[1])
  const to = Number(written?.[2] ?? written?.[1])
  if (written && from >= 1 && to >= from) return { from, to }
  const rule = 'must be a range of lines such as 10-50: a first and a last line from 1 to 999999999'
  throw validationError('lines', rule, range, 'give a first line, and a last one that is not before it')
}
