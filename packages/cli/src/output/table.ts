import { safeText } from './safe-text.js'

/** One column of a table for people. */
export interface Column {
  readonly title: string
  /** Numbers are aligned right. Default left. */
  readonly align?: 'left' | 'right'
}

/** A table; the printer lays it out, since only the printer knows the width of the terminal. */
export interface Table {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly string[])[]
}

/** An element of a result: a line as it is, or a table. */
export type Line = string | Table

/**
 * A table among the lines of a result: a heading, a rule, and one line per row, in columns as wide as their widest cell.
 *
 * @param rows one cell per column; a missing cell is empty
 */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): [Table] {
  return [{ columns, rows }]
}

/**
 * A column of a table whose rows are items: `text` is made safe for a terminal, `count` is formatted and aligned right, and
 * `right` is aligned right as it is.
 */
export type ItemColumn<Item> = { readonly title: string } & (
  | { readonly text: (item: Item) => string }
  | { readonly count: (item: Item) => number }
  | { readonly right: (item: Item) => string }
)

/** A table with a row for each item. */
export function itemTable<Item>(items: readonly Item[], columns: readonly ItemColumn<Item>[]): [Table] {
  return tableLines(
    columns.map((column) => ({ title: column.title, align: 'text' in column ? 'left' : 'right' })),
    items.map((item) => columns.map((column) => cellOf(column, item))),
  )
}

function cellOf<Item>(column: ItemColumn<Item>, item: Item): string {
  if ('text' in column) return safeText(column.text(item))
  return 'count' in column ? formatCount(column.count(item)) : column.right(item)
}

/** The line below a page that has a successor; empty on the last page. The cursor may be a name that a user gave. */
export function moreLines(nextCursor: string | null): string[] {
  return nextCursor === null ? [] : ['', `more: --cursor ${JSON.stringify(safeText(nextCursor))}`]
}

/** The line for an empty page: nothing after the cursor, or an empty list. */
export function emptyLines(cursor: string | undefined, what: string, nothing: string): string[] {
  return cursor === undefined ? [nothing] : [`no ${what} after ${JSON.stringify(safeText(cursor))}`]
}

/** A whole number with separators of thousands, the same on every machine. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US')
}

/** A count with its noun: `1 message`, `2 messages`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** A duration for people: `840 ms`, `3.2 s`, `2 min 5 s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`
  if (durationMs < 60_000) return `${(durationMs / 1_000).toFixed(1)} s`
  const seconds = Math.round(durationMs / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
