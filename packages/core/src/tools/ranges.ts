import type { ToolRule } from '@heddle/contracts'
import { numberField, textField } from './arguments.js'

/**
 * Lines of a file, from 1, both ends included. `to` null is the end of the file; a `from` below 0 counts from the end, as
 * `tail` does, and its `to` is null.
 */
export interface LineRange {
  readonly from: number
  readonly to: number | null
}

const FROM = [
  'start_line',
  'startLine',
  'StartLine',
  'start_line_one_indexed',
  'line_start',
  'from_line',
  'start',
  'from',
]
const TO = ['end_line', 'endLine', 'EndLine', 'end_line_one_indexed_inclusive', 'line_end', 'to_line', 'end', 'to']
const COUNT = ['limit', 'line_count', 'num_lines', 'max_lines']

/**
 * The lines that a view of a file requests; null is the whole file.
 *
 * @param named the arguments with the range, if the tool's row names them
 */
export function rangeOf(fields: Readonly<Record<string, unknown>>, named?: ToolRule['range']): LineRange | null {
  const viewRange = Object.hasOwn(fields, 'view_range') ? fields['view_range'] : undefined
  if (Array.isArray(viewRange)) return range(wholeNumber(viewRange[0]), wholeNumber(viewRange[1]))
  const written = /^\s*L?(\d{1,9})\s*-\s*(\d{1,9})\s*$/.exec(
    textField(fields, ['view_range', 'line_range', 'lines', 'range']) ?? '',
  )
  if (written) return range(Number(written[1]), Number(written[2]))
  const offset = numberField(fields, ['offset'])
  const count = numberField(fields, named?.count ?? COUNT)
  const from = numberField(fields, named?.from ?? FROM) ?? offset
  const to = numberField(fields, named?.to ?? TO)
  if (from === null && to === null && count === null) {
    const line = numberField(fields, ['line_number', 'line'])
    return line === null ? null : range(line, null)
  }
  // Some tools count lines from 0, and a negative offset is the end of the file.
  const first = from === null ? 1 : from < 0 ? from : Math.max(from, 1)
  if (to !== null) return range(first, to)
  return range(first, count === null || first < 0 ? null : first + count - 1)
}

function range(from: number | null, to: number | null): LineRange | null {
  if (from === null || from === 0) return to === null ? null : range(1, to)
  if (from < 0) return { from, to: null }
  if (to === null || to < from) return from === 1 ? null : { from, to: null }
  return { from, to }
}

function wholeNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}

/** Whether everything in `inner` is also in `outer`; null is the whole file. */
export function covers(outer: LineRange | null, inner: LineRange | null): boolean {
  const { from, to } = outer ?? { from: 1, to: null }
  const wanted = inner ?? { from: 1, to: null }
  if (from === 1 && to === null) return true
  if (from < 0 || wanted.from < 0) return from < 0 && wanted.from < 0 && from <= wanted.from
  return from <= wanted.from && (to === null || (wanted.to !== null && wanted.to <= to))
}
