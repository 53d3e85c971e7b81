import type { Column, Line, Table } from './table.js'

const GAP = '  '
/** A column is not made narrower than this while another one can be. */
const COLUMN_CHARACTERS_MIN = 12

/** @param widthMax characters of a terminal line; null for a file or a pipe */
export function layOut(lines: readonly Line[], widthMax: number | null): string[] {
  return lines.flatMap((line) => (typeof line === 'string' ? [line] : tableText(line, widthMax)))
}

function tableText({ columns, rows }: Table, widthMax: number | null): string[] {
  const natural = columns.map((column, index) =>
    Math.max(column.title.length, ...rows.map((row) => (row[index] ?? '').length)),
  )
  const widths = widthMax === null ? natural : fitted(columns, natural, widthMax)
  const lineOf = (cells: readonly string[]) => {
    const line = columns
      .map((column, index) => {
        const width = widths[index] ?? 0
        const cell = shortened(cells[index] ?? '', width)
        return column.align === 'right' ? cell.padStart(width) : cell.padEnd(width)
      })
      .join(GAP)
      .trimEnd()
    return widthMax === null ? line : shortened(line, widthMax)
  }
  return [
    lineOf(columns.map((column) => column.title)),
    lineOf(widths.map((width) => '─'.repeat(width))),
    ...rows.map(lineOf),
  ]
}

/**
 * Column widths that fit a line together. The widest text column shrinks first, down to the next widest, and so on. Numbers are
 * never cut, since a cut number would be another one, and short columns such as names and references are cut last.
 */
function fitted(columns: readonly Column[], natural: readonly number[], widthMax: number): number[] {
  const gaps = GAP.length * (columns.length - 1)
  const isText = (index: number) => columns[index]?.align !== 'right'
  const capped = (cap: number) => natural.map((width, index) => (isText(index) ? Math.min(width, cap) : width))
  const fits = (widths: readonly number[]) => widths.reduce((sum, width) => sum + width, gaps) <= widthMax
  for (let cap = Math.max(0, ...natural); cap > COLUMN_CHARACTERS_MIN; cap--) {
    const widths = capped(cap)
    if (fits(widths)) return widths
  }
  return capped(COLUMN_CHARACTERS_MIN)
}

/** The beginning of a text, with an ellipsis if it was cut. */
function shortened(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const end = text.slice(0, Math.max(0, charactersMax - 1))
  // Half of a surrogate pair is not a valid character.
  return `${end.replace(/[\ud800-\udbff]$/, '')}…`
}
